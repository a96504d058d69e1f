import { Link } from "@tanstack/react-router";
import type { Day } from "../days/day-state.tsx";
import { DayStateWithFaults, FailedChecks } from "../days/failed-checks.tsx";
import { addDays } from "../format/formats.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Table } from "../ui/table.tsx";

/** Today and the days before it, also those without a till, because a missing day is what an owner must see. */
export function RecentDays({ days, today, count }: { days: readonly Day[]; today: string; count: number }) {
  const formats = useFormats();
  const byDate = new Map(days.map((day) => [day.day, day]));
  const dates = Array.from({ length: count + 1 }, (_, index) => addDays(today, -index));
  return (
    <Table
      label={text.home.recentDays}
      rows={dates.map((date) => ({ date, day: byDate.get(date) }))}
      getKey={({ date }) => date}
      empty={text.days.empty}
      columns={[
        {
          header: text.days.day,
          isRowHeader: true,
          cell: ({ date, day }) =>
            day ? (
              <Link to="/days/$date" params={{ date }}>
                {formats.day(date)}
              </Link>
            ) : (
              <span className="muted">{formats.day(date)}</span>
            ),
        },
        {
          header: text.days.state,
          cell: ({ date, day }) => {
            if (day) return <DayStateWithFaults day={day} />;
            return <span className="muted">{date === today ? text.home.nothingYet : text.days.noTill}</span>;
          },
        },
        {
          header: text.days.sales,
          isNumeric: true,
          cell: ({ day }) => (day?.totals ? formats.money(day.totals.totalSales) : "–"),
        },
        {
          header: text.days.orders,
          isNumeric: true,
          isWideOnly: true,
          cell: ({ day }) => (day?.totals ? formats.number(day.totals.orderCount) : "–"),
        },
        {
          header: text.days.failedChecks,
          isMergedIfNarrow: true,
          cell: ({ day }) => (day ? <FailedChecks day={day} /> : null),
        },
      ]}
    />
  );
}
