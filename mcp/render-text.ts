import { cleanText } from "./format-text.ts";

/** Length of a text from which rows are left out: about 1,500 tokens of text with many figures. */
const maxLength = 4_500;
/** A passage of the documentation is shorter. */
const maxCellLength = 700;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isFlat = (value: Record<string, unknown>) => !Object.values(value).some(isObject);
const isPresent = (value: unknown) => value !== undefined && value !== null;
const describeObject = (value: object) =>
  Object.entries(value)
    .filter(([, figure]) => isPresent(figure))
    .map((entry) => entry.join(" "))
    .join(", ");
const formatRow = (cells: unknown[]) =>
  `| ${cells.map((cell) => cleanText(String(cell ?? "-"), "-", maxCellLength)).join(" | ")}`;

/**
 * Returns structured content as text. Objects are lines, and lists of objects are tables. Rows begin with a separator, which
 * names cannot contain (`cleanText`), so that a name looks neither like a line of the server nor like Markdown.
 */
export function renderText(content: Record<string, unknown>): string {
  const lines: string[] = [];
  let length = 0;
  const add = (line: string) => {
    lines.push(line);
    length += line.length + 1;
  };
  const addTable = (name: string, rows: Record<string, unknown>[]) => {
    const columns = [...new Set(rows.flatMap(Object.keys))];
    add(`${name}:`);
    add(formatRow(columns));
    const fitting = rows.filter((row) => {
      const fits = length <= maxLength;
      if (fits) add(formatRow(columns.map((column) => row[column])));
      return fits;
    });
    if (fitting.length < rows.length)
      add(`${rows.length - fitting.length} more rows are only in the structured content`);
  };
  const addFields = (fields: Record<string, unknown>): void => {
    for (const [name, value] of Object.entries(fields)) {
      const objects = (Array.isArray(value) ? value : [value]).filter(isObject);
      if (Array.isArray(value) && value.length > 0 && objects.every(isFlat) && objects.length > 0)
        addTable(name, objects);
      else if (objects.length === 1 && objects[0] && isFlat(objects[0])) add(`${name}: ${describeObject(objects[0])}`);
      else if (objects.length > 0) for (const object of objects) addFields(object);
      else if (isPresent(value) && String(value) !== "") add(`${name}: ${[value].flat().join(", ")}`);
    }
  };
  const { notes = [], ...fields } = content as { notes?: string[] };
  addFields(fields);
  return [...lines, ...notes].join("\n");
}
