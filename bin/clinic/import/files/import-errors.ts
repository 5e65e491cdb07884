/** The file as a whole cannot be imported. The message contains its path, and the line if there is one. */
export class ImportFileError extends Error {}
