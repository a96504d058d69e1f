import { type ReactNode, useState } from "react";
import { text } from "../text/text.ts";
import { Button } from "./button.tsx";

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Numbers and amounts are aligned to the end. */
  isNumeric?: boolean;
  /** Below 640 pixels, hidden until the reader asks for more columns. */
  isWideOnly?: boolean;
  /** Below 640 pixels, left out, because another column of the row then contains the same. */
  isMergedIfNarrow?: boolean;
  /** The column that names the row. */
  isRowHeader?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  getKey: (row: Row) => string;
  /** Shown instead of the table if there are no rows. */
  empty: ReactNode;
  footer?: ReactNode;
}

/** A table that scrolls sideways if the screen is too narrow. Below it, a button shows the columns that a phone lacks. */
export function Table<Row>({ label, columns, rows, getKey, empty, footer }: TableProps<Row>) {
  const [hasAllColumns, setHasAllColumns] = useState(false);
  if (rows.length === 0) return <p className="empty">{empty}</p>;
  const wideOnly = columns.filter(({ isWideOnly }) => isWideOnly);
  const classOf = ({ isNumeric, isWideOnly, isMergedIfNarrow }: Column<Row>) =>
    [isNumeric && "numeric", (isMergedIfNarrow || (isWideOnly && !hasAllColumns)) && "wide-only"]
      .filter(Boolean)
      .join(" ") || undefined;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever uses a keyboard must be able to scroll the table. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and a section would be one landmark more. */}
      <div className="table-scroll" role="group" aria-label={label} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.header} scope="col" className={classOf(column)}>
                  {column.header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={getKey(row)}>
                {columns.map((column) =>
                  column.isRowHeader ? (
                    <th key={column.header} scope="row" className={classOf(column)}>
                      {column.cell(row)}
                    </th>
                  ) : (
                    <td key={column.header} className={classOf(column)}>
                      {column.cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
          {footer && <tfoot>{footer}</tfoot>}
        </table>
      </div>
      {wideOnly.length > 0 && (
        <p className="narrow-only more-columns">
          <Button variant="quiet" onPress={() => setHasAllColumns(!hasAllColumns)}>
            {hasAllColumns ? text.table.fewer : text.table.more(wideOnly.map(({ header }) => header))}
          </Button>
        </p>
      )}
    </>
  );
}
