/** Confirmations of commands that cannot be undone: at a terminal, with options, and without either. */
import { PassThrough } from 'node:stream'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import {
  type Ask,
  addConfirmOptions,
  addYesOption,
  allowInput,
  askOn,
  confirm,
  confirmByTyping,
} from '../../../../bin/clinic/tool/confirmation.ts'

/** Runs a command that asks, and returns how it ended, and what it showed and asked. */
async function run(args: readonly string[], ask: Ask | null, isTyped = false, input?: string) {
  let shown = ''
  let isDone = false
  const questions: string[] = []
  const program = new Command('clinic').configureOutput({
    writeErr: (text) => {
      shown += text
    },
  })
  allowInput(program, {
    ask: ask
      ? (question) => {
          questions.push(question)
          return ask(question)
        }
      : undefined,
    readInput: input === undefined ? undefined : async () => input,
  })
  const command = program.command('erase').action(async () => {
    const consequences = ['Two appointments are cancelled.']
    if (isTyped)
      await confirmByTyping(command, { what: "the patient's name", text: 'Ada Lovelace', consequences })
    else await confirm(command, consequences)
    isDone = true
  })
  if (isTyped) addConfirmOptions(command, "the patient's name")
  else addYesOption(command)
  const error = await program.parseAsync(['erase', ...args], { from: 'user' }).then(
    () => null,
    (error) => error,
  )
  return { isDone, shown, questions, exitCode: error?.exitCode, message: error?.message }
}
const answering =
  (line: string): Ask =>
  async () =>
    line

it.each(['y', 'yes', ' YES '])('continues after the answer %j', async (answer) => {
  const { isDone, shown, questions } = await run([], answering(answer))
  expect([isDone, shown, questions]).toEqual([
    true,
    'Two appointments are cancelled.\n',
    ['Do it? (yes/no) '],
  ])
})

it.each(['', 'n', 'no', 'yesterday'])('does nothing after the answer %j', async (answer) => {
  const { isDone, exitCode, message } = await run([], answering(answer))
  expect([isDone, exitCode, message]).toEqual([false, 2, 'Nothing was done.'])
})

it('asks nothing with --yes, with or without a terminal', async () => {
  for (const ask of [null, answering('no')])
    expect(await run(['--yes'], ask)).toMatchObject({ isDone: true, shown: '', questions: [] })
})

it('fails without a terminal and without --yes, and says what would happen', async () => {
  expect(await run([], null)).toMatchObject({
    isDone: false,
    exitCode: 2,
    message: 'Two appointments are cancelled.\nNothing was done. Use --yes to do it.',
  })
})

it('continues when the text was typed exactly', async () => {
  const { isDone, shown, questions } = await run([], answering('Ada Lovelace'), true)
  expect([isDone, shown, questions]).toEqual([
    true,
    'Two appointments are cancelled.\n',
    ["Type the patient's name to do it: "],
  ])
})

it.each(['', 'ada lovelace', 'Ada Lovelace ', 'yes'])('does nothing when %j was typed', async (answer) => {
  const { isDone, exitCode, message } = await run([], answering(answer), true)
  expect([isDone, exitCode, message]).toEqual([false, 2, "Nothing was done: that is not the patient's name."])
})

it('continues with --yes and the text in --confirm', async () => {
  for (const ask of [null, answering('no')]) {
    const outcome = await run(['--yes', '--confirm', 'Ada Lovelace'], ask, true)
    expect(outcome).toMatchObject({ isDone: true, shown: '', questions: [] })
  }
})

it('reads the text from a prompt or from standard input with --confirm -', async () => {
  const args = ['--yes', '--confirm', '-']
  const typed = await run(args, answering('Ada Lovelace'), true, 'unread')
  expect(typed).toMatchObject({ isDone: true, questions: ["Type the patient's name: "] })
  for (const input of ['Ada Lovelace', 'Ada Lovelace\n', 'Ada Lovelace\r\n'])
    expect((await run(args, null, true, input)).isDone).toBe(true)
  expect((await run(args, null, true, 'Ada')).message).toContain("that is not the patient's name")
  for (const input of ['', '\n', undefined])
    expect(await run(args, null, true, input)).toMatchObject({
      isDone: false,
      exitCode: 2,
      message: "Nothing was done: standard input does not have the patient's name.",
    })
})

it.each([
  [[], 'Without a terminal, use --yes --confirm with'],
  [['--confirm', 'Ada Lovelace'], 'Without a terminal, use --yes --confirm with'],
  [['--yes'], '--yes needs --confirm with'],
  [['--yes', '--confirm', 'Ada'], 'Nothing was done: that is not'],
])('fails for %j without a terminal, and shows neither the text nor the consequences', async (args, why) => {
  const { isDone, exitCode, message, shown } = await run(args, null, true)
  expect([isDone, exitCode, shown]).toEqual([false, 2, ''])
  expect(message).toContain(why)
  expect(message).not.toContain('Lovelace')
})

it('reads a line from the terminal, and takes the end of input for an empty one', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const answer = askOn(input, output)('Do it? ')
  input.write('yes\n')
  expect(await answer).toBe('yes')
  expect(String(output.read())).toBe('Do it? ')
  const nothing = askOn(input, output)('And this? ')
  input.end()
  expect(await nothing).toBe('')
})

it('ends a command with exit code 130 when Ctrl-C is pressed at its question', async () => {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })]
  const answer = askOn(input, output)('Do it? ')
  input.write('\x03')
  await expect(answer).rejects.toMatchObject({ message: 'Nothing was done.', exitCode: 130 })
})
