// Command oapi-codegen books an appointment, pays an invoice and reads the payment back with the client that oapi-codegen generates.
package main

import (
	"context"
	"encoding"
	"fmt"
	"net/http"
	"os"

	"github.com/oapi-codegen/runtime/types"

	"clients/oapi-codegen/client"
)

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Developer "+os.Getenv("CREDENTIAL"))
		return nil
	}
	api, err := client.NewClientWithResponses(os.Getenv("API"), client.WithRequestEditorFn(authorize))
	check(err)

	var doctor types.UUID
	parse(&doctor, "DOCTOR")
	var date types.Date
	parse(&date, "DATE")
	time := os.Getenv("TIME")
	booking := client.AppointmentCreate{DoctorId: &doctor, AppointmentDate: &date, StartTime: &time}
	parse(&booking.PatientId, "PATIENT")
	booked, err := api.CreateAppointmentWithResponse(ctx, nil, booking)
	check(err)
	if booked.JSON201 == nil {
		panic(string(booked.Body))
	}
	appointment, err := booked.JSON201.Data.AsAppointment()
	check(err)

	payment := client.PaymentCreate{Amount: 1234567.89, PaymentMethod: client.PaymentCreatePaymentMethodCard}
	parse(&payment.InvoiceId, "INVOICE")
	paid, err := api.CreatePaymentWithResponse(ctx, nil, payment)
	check(err)
	if paid.JSON201 == nil {
		panic(string(paid.Body))
	}
	created, err := paid.JSON201.Data.AsPaymentDetails()
	check(err)
	read, err := api.GetPaymentWithResponse(ctx, created.Id, nil)
	check(err)
	fmt.Printf("%s %s %.2f\n", appointment.AppointmentDate, appointment.StartTime, read.JSON200.Data.Amount)
}

func parse(value encoding.TextUnmarshaler, name string) {
	check(value.UnmarshalText([]byte(os.Getenv(name))))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
