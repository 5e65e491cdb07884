// Preloaded into every process and thread of a recording (recording-clock.ts): `Date` runs `offset` milliseconds off the
// machine's clock. Plain JavaScript, because function threads do not strip types.
const offset = Number(new URL(import.meta.url).searchParams.get('offset'))
const MachineDate = Date
const now = () => MachineDate.now() + offset

globalThis.Date = new Proxy(MachineDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, property, receiver) => (property === 'now' ? now : Reflect.get(target, property, receiver)),
})
