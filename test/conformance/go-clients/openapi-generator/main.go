// Command openapi-generator does the same with the client that openapi-generator generates.
package main

import (
	"context"
	"fmt"
	"os"

	client "clients/openapi-generator/client"
)

func main() {
	ctx := context.Background()
	settings := client.NewConfiguration()
	settings.Servers = client.ServerConfigurations{{URL: os.Getenv("API")}}
	settings.AddDefaultHeader("Authorization", "Developer "+os.Getenv("CREDENTIAL"))
	api := client.NewAPIClient(settings)

	booking := client.NewAppointmentCreate(os.Getenv("PATIENT"))
	booking.SetDoctorId(os.Getenv("DOCTOR"))
	booking.SetAppointmentDate(os.Getenv("DATE"))
	booking.SetStartTime(os.Getenv("TIME"))
	booked, _, err := api.AppointmentsAPI.CreateAppointment(ctx).AppointmentCreate(*booking).Execute()
	check(err)
	appointment := booked.Data.Appointment

	payment := client.NewPaymentCreate(os.Getenv("INVOICE"), 1234567.89, "card")
	paid, _, err := api.FinanceAPI.CreatePayment(ctx).PaymentCreate(*payment).Execute()
	check(err)
	read, _, err := api.FinanceAPI.GetPayment(ctx, paid.Data.PaymentDetails.Id).Execute()
	check(err)
	fmt.Printf("%s %s %.2f\n", appointment.AppointmentDate, appointment.StartTime, read.Data.Amount)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
