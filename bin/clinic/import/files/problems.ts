/** A row cannot become records. The reason has none of its values: it is shown, and stored with the rejected row. */
export class Problem extends Error {}

/** The converter is wrong, whatever the row has. */
export class ConverterMistake extends Error {}

/** The file as a whole cannot be imported. The message contains its path, and the line if there is one. */
export class ImportFileError extends Error {}
