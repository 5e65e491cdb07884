/** A row cannot become records. The reason has none of its values: it is shown, and stored with the rejected row. */
export class Problem extends Error {}

/** The converter is wrong, whatever the row has. */
export class ConverterMistake extends Error {}
