import { Link } from "@tanstack/react-router";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Moment } from "../ui/moment.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import type { AccountingExport } from "./accounting-export-state.tsx";

type ExportedTill = AccountingExport["tills"][number];
type RefusedTill = ExportedTill & { failure: NonNullable<ExportedTill["failure"]> };
type Gap = RefusedTill["failure"]["gaps"][number];

/** The tills that are in no file, by business day and report number, with the orders whose figures differ. */
export function RefusedTills({ item }: { item: AccountingExport }) {
  const days = groupByDay(item.tills.filter(isRefused));
  return (
    <Section title={text.accounting.refusedTitle}>
      {days.length === 0 ? (
        <p className="empty">{text.accounting.allExported}</p>
      ) : (
        <>
          <p className="muted">{text.accounting.refusedHint}</p>
          <ul className="cards">
            {days.map(([day, tills]) => (
              <li key={day} className="card">
                <DayName day={day} />
                {tills.map((till) => (
                  <Refusal key={`${till.tillId} ${till.accountingConfigId} ${till.accountingProvider}`} till={till} />
                ))}
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

const isRefused = (till: ExportedTill): till is RefusedTill => till.failure !== null;

/** Returns the tills of each business day by report number, days in ascending sequence; the day is empty if there is none. */
function groupByDay(tills: RefusedTill[]): [day: string, tills: RefusedTill[]][] {
  const byDay = new Map<string, RefusedTill[]>();
  for (const till of tills) {
    const day = till.failure.day ?? "";
    byDay.set(day, [...(byDay.get(day) ?? []), till]);
  }
  const byNumber = (a: RefusedTill, b: RefusedTill) => (a.failure.reportNumber ?? 0) - (b.failure.reportNumber ?? 0);
  return [...byDay]
    .map(([day, ofDay]): [string, RefusedTill[]] => [day, ofDay.toSorted(byNumber)])
    .sort(([a], [b]) => a.localeCompare(b));
}

function DayName({ day }: { day: string }) {
  const { longDay } = useFormats();
  return (
    <h3>
      {day === "" ? (
        text.accounting.noReport
      ) : (
        <Link to="/days/$date" params={{ date: day }}>
          {longDay(day)}
        </Link>
      )}
    </h3>
  );
}

function Refusal({ till: { tillId, reportId, failure } }: { till: RefusedTill }) {
  const name = failure.reportNumber === null ? null : text.accounting.report(failure.reportNumber);
  return (
    <div className="refusal">
      <p>
        <strong>
          {name === null ? (
            <>
              {text.accounting.tillId} <code>{tillId}</code>
            </>
          ) : reportId === null ? (
            name
          ) : (
            <Link to="/reports/$id" params={{ id: reportId }}>
              {name}
            </Link>
          )}
        </strong>{" "}
        {text.accounting.failures[failure.code]}
      </p>
      {failure.gaps.map((gap) => (
        <GapDetails key={`${gap.code} ${gap.message}`} gap={gap} />
      ))}
    </div>
  );
}

function GapDetails({ gap: { code, message, orders, orderCount } }: { gap: Gap }) {
  const { money, difference } = useFormats();
  return (
    <div className="gap">
      <p>
        <span className="bad">{text.accounting.gaps[code]}.</span> {message}
      </p>
      {orders.length > 0 && (
        <Table
          label={text.accounting.ordersInQuestion}
          rows={orders}
          getKey={({ orderId }) => orderId}
          empty=""
          columns={[
            {
              header: text.accounting.order,
              isRowHeader: true,
              cell: ({ orderId, tableName }) => (
                <Link to="/orders/$id" params={{ id: orderId }}>
                  {tableName ?? text.accounting.noTable}
                </Link>
              ),
            },
            {
              header: text.accounting.opened,
              cell: ({ openedAt }) => (openedAt === null ? "–" : <Moment at={openedAt} />),
            },
            {
              header: text.accounting.total,
              isNumeric: true,
              cell: ({ total }) => (total === null ? "–" : money(total)),
            },
            { header: text.accounting.difference, isNumeric: true, cell: ({ amount }) => difference(amount) },
          ]}
        />
      )}
      {orderCount > orders.length && <p className="muted">{text.accounting.moreOrders(orderCount - orders.length)}</p>}
    </div>
  );
}
