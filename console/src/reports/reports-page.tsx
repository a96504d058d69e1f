import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { DayRangeField, Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Table } from "../ui/table.tsx";

const route = getRouteApi("/reports");
const pageSize = 25;

export function ReportsPage() {
  const { since, until, page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const { money, isoDay, day } = useFormats();
  const query = useApi(["reports", since, until, page], (api) =>
    api.GET("/v2/reports", {
      params: { query: { ...(since && { since }), ...(until && { until }), index: page, size: pageSize } },
    }),
  );
  return (
    <Page title={text.reports.title} summary={text.reports.summary} actions={<CopyRequest url={query.data?.url} />}>
      <Filters>
        <DayRangeField
          since={since}
          until={until}
          onChange={(range) => void navigate({ search: (search) => ({ ...search, ...range, page: undefined }) })}
        />
      </Filters>
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            <Table
              label={text.reports.title}
              rows={data}
              getKey={({ id }) => id}
              empty={text.reports.empty}
              columns={[
                {
                  header: text.reports.businessDay,
                  isRowHeader: true,
                  cell: ({ id, startedAt }) => (
                    <Link to="/reports/$id" params={{ id }}>
                      {day(isoDay(new Date(startedAt)))}
                    </Link>
                  ),
                },
                { header: text.reports.opened, cell: ({ startedAt }) => <Moment at={startedAt} isTimeOnly /> },
                { header: text.reports.closed, cell: ({ finalizedAt }) => <Moment at={finalizedAt} /> },
                { header: text.reports.sales, isNumeric: true, cell: ({ totalSales }) => money(totalSales) },
                { header: text.tills.id, isWideOnly: true, cell: ({ tillId }) => <code>{tillId}</code> },
              ]}
            />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
