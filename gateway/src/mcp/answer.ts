/** Length of an answer from which tables are cut: about 1,500 tokens of text with many figures. */
const maxLengthWithTables = 4_500;

interface AnswerTable {
  columns: string[];
  rows: string[][];
  /** Returns a line about what is left out, for the number of rows that are shown. */
  describeRest?(shownCount: number): string | undefined;
}

const formatRow = (cells: string[]) => `| ${cells.join(" | ")}`;

/** The text of an answer: lines and tables. Tables are cut, so that an answer stays small. */
export class Answer {
  readonly #lines: string[] = [];
  #length = 0;

  /** Adds a line. Ignores undefined, so that callers can add optional lines. */
  add(...lines: (string | undefined)[]): this {
    for (const line of lines) {
      if (line === undefined) continue;
      this.#lines.push(line);
      this.#length += line.length + 1;
    }
    return this;
  }

  /**
   * Adds a table with as many rows as fit into the answer. Rows begin with a separator, which names cannot contain, so that a
   * name at the beginning of a row looks neither like a line of the server, such as `Next: `, nor like Markdown.
   */
  addTable({ columns, rows, describeRest }: AnswerTable): this {
    this.add(formatRow(columns));
    let shownCount = 0;
    for (const row of rows) {
      const line = formatRow(row);
      if (this.#length + line.length > maxLengthWithTables) break;
      this.add(line);
      shownCount += 1;
    }
    return this.add(describeRest?.(shownCount));
  }

  /** Adds a suggestion for the next call of a tool. */
  addNext(tool: string, args: object, purpose: string): this {
    return this.add(`Next: ${tool} ${JSON.stringify(args)} – ${purpose}`);
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}
