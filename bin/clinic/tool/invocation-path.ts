import { isAbsolute, relative, resolve } from 'node:path'

/** npm runs scripts in the project's folder; paths are relative to the folder in which the user typed the command. */
export const resolveFromInvocationDir = (file: string): string =>
  isAbsolute(file) ? file : relative('.', resolve(process.env.INIT_CWD ?? '.', file))
