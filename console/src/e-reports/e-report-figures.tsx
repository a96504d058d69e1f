import type { ApiSchemaTypes } from "@pragma/client";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { DayLink } from "./day-link.tsx";

type EReport = ApiSchemaTypes["EReport"];

interface FigureRow {
  day: string;
  locationIds: string[];
  category: keyof typeof text.eReports.categories | null;
  taxRate: number;
  amount: number;
  tax: number | null;
  orders: number | null;
}

export function EReportFigures({ report: { kind, transactions, payments } }: { report: EReport }) {
  const { rate, money, number } = useFormats();
  const rows: FigureRow[] =
    kind === "transactions"
      ? transactions.flatMap(({ day, category, transactionsCount, taxSubtotals, tills }) =>
          taxSubtotals.map(({ taxRate, taxableAmount, taxTotal }, index) => ({
            ...{ day, category, locationIds: listLocations(tills), taxRate, amount: taxableAmount, tax: taxTotal },
            orders: index === 0 ? transactionsCount : null,
          })),
        )
      : payments.flatMap(({ day, subtotals, tills }) =>
          subtotals.map(({ taxRate, amount }) => ({
            day,
            locationIds: listLocations(tills),
            category: null,
            taxRate,
            amount,
            tax: null,
            orders: null,
          })),
        );
  const isSales = kind === "transactions";
  return (
    <Section title={text.eReports.blocks}>
      <Table
        label={text.eReports.blocks}
        rows={rows}
        getKey={({ day, category, taxRate }) => `${day} ${category} ${taxRate}`}
        empty={text.eReports.noBlocks}
        columns={[
          {
            header: text.eReports.day,
            isRowHeader: true,
            cell: ({ day, locationIds }) => <DayLink day={day} locationIds={locationIds} />,
          },
          ...(isSales
            ? [
                {
                  header: text.eReports.category,
                  cell: ({ category }: FigureRow) => category && text.eReports.categories[category],
                },
              ]
            : []),
          { header: text.eReports.rate, isNumeric: true, cell: ({ taxRate }) => rate(taxRate) },
          {
            header: isSales ? text.eReports.net : text.eReports.received,
            isNumeric: true,
            cell: ({ amount }) => money(amount),
          },
          ...(isSales
            ? [
                {
                  header: text.eReports.vat,
                  isNumeric: true,
                  cell: ({ tax }: FigureRow) => (tax === null ? "" : money(tax)),
                },
                {
                  header: text.eReports.orders,
                  isNumeric: true,
                  isWideOnly: true,
                  cell: ({ orders }: FigureRow) => (orders === null ? "" : number(orders)),
                },
              ]
            : []),
        ]}
      />
    </Section>
  );
}

const listLocations = (tills: readonly { locationId: string }[]) => [
  ...new Set(tills.map(({ locationId }) => locationId)),
];
