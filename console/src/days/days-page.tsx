import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { ExportLink } from "../exports/export-link.tsx";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { ListOfDays, toListQuery } from "../ui/list-of-days.tsx";
import { DayStateWithFaults, FailedChecks } from "./failed-checks.tsx";

const route = getRouteApi("/days");
const pageSize = 31;

/** The business days of the location. */
export function DaysPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const formats = useFormats();
  const query = useApi(["days", search], (api) =>
    api.GET("/v1/days", { params: { query: toListQuery(search, pageSize) } }),
  );
  return (
    <ListOfDays
      title={text.days.title}
      summary={text.days.summary}
      search={search}
      onSearch={(changed) => void navigate({ search: changed })}
      actions={<ExportLink data="reports" since={search.since} until={search.until} />}
      query={query}
      getKey={({ day }) => day}
      empty={text.days.empty}
      none={text.days.none}
      columns={[
        {
          header: text.days.day,
          isRowHeader: true,
          cell: ({ day }) => (
            <Link to="/days/$date" params={{ date: day }}>
              {formats.listedDay(day)}
            </Link>
          ),
        },
        { header: text.days.state, cell: (day) => <DayStateWithFaults day={day} /> },
        {
          header: text.days.sales,
          isNumeric: true,
          cell: ({ totals }) => (totals ? formats.money(totals.totalSales) : "–"),
        },
        {
          header: text.days.orders,
          isNumeric: true,
          isWideOnly: true,
          cell: ({ totals }) => (totals ? formats.number(totals.orderCount) : "–"),
        },
        {
          header: text.days.tills,
          isNumeric: true,
          isWideOnly: true,
          cell: ({ tillCount }) => formats.number(tillCount),
        },
        { header: text.days.failedChecks, isMergedIfNarrow: true, cell: (day) => <FailedChecks day={day} /> },
      ]}
    />
  );
}
