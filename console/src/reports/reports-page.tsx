import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { ExportLink } from "../exports/export-link.tsx";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { ListOfDays, toListQuery } from "../ui/list-of-days.tsx";
import { Moment } from "../ui/moment.tsx";

const route = getRouteApi("/reports");
const pageSize = 25;

/** The reports of the location. */
export function ReportsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { money, isoDay, listedDay } = useFormats();
  const query = useApi(["reports", search], (api) =>
    api.GET("/v2/reports", { params: { query: toListQuery(search, pageSize) } }),
  );
  return (
    <ListOfDays
      title={text.reports.title}
      summary={text.reports.summary}
      search={search}
      onSearch={(changed) => void navigate({ search: changed })}
      actions={<ExportLink data="reports" since={search.since} until={search.until} />}
      query={query}
      getKey={({ id }) => id}
      empty={text.reports.empty}
      none={text.reports.none}
      columns={[
        {
          header: text.reports.businessDay,
          isRowHeader: true,
          cell: ({ id, startedAt }) => (
            <Link to="/reports/$id" params={{ id }}>
              {listedDay(isoDay(new Date(startedAt)))}
            </Link>
          ),
        },
        {
          header: text.reports.opened,
          isWideOnly: true,
          cell: ({ startedAt }) => <Moment at={startedAt} isTimeOnly />,
        },
        { header: text.reports.closed, cell: ({ finalizedAt }) => <Moment at={finalizedAt} isOnOneLine /> },
        { header: text.reports.sales, isNumeric: true, cell: ({ totalSales }) => money(totalSales) },
        { header: text.tills.id, isWideOnly: true, cell: ({ tillId }) => <code>{tillId}</code> },
      ]}
    />
  );
}
