import type { ReactNode } from "react";

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Numbers and amounts are aligned to the end. */
  isNumeric?: boolean;
  /** Left out below 640 pixels, because another column or the row's own view shows it. */
  isWideOnly?: boolean;
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

/** A table that scrolls sideways if the screen is too narrow. */
export function Table<Row>({ label, columns, rows, getKey, empty, footer }: TableProps<Row>) {
  if (rows.length === 0) return <p className="empty">{empty}</p>;
  const classOf = ({ isNumeric, isWideOnly }: Column<Row>) =>
    [isNumeric && "numeric", isWideOnly && "wide-only"].filter(Boolean).join(" ") || undefined;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever uses a keyboard must be able to scroll the table.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and a section would be one landmark more.
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
  );
}
