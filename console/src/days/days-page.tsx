import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { DayRangeField, Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Table } from "../ui/table.tsx";
import { DayStateWithFaults, FailedChecks } from "./failed-checks.tsx";

const route = getRouteApi("/days");
const pageSize = 31;

/** The business days of the location. */
export function DaysPage() {
  const { since, until, page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const formats = useFormats();
  const query = useApi(["days", since, until, page], (api) =>
    api.GET("/v1/days", {
      params: { query: { ...(since && { since }), ...(until && { until }), index: page, size: pageSize } },
    }),
  );
  return (
    <Page title={text.days.title} summary={text.days.summary} actions={<CopyRequest url={query.data?.url} />}>
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
              label={text.days.title}
              rows={data}
              getKey={({ day }) => day}
              empty={text.days.empty}
              columns={[
                {
                  header: text.days.day,
                  isRowHeader: true,
                  cell: ({ day }) => (
                    <Link to="/days/$date" params={{ date: day }}>
                      {formats.day(day)}
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
                { header: text.days.failedChecks, isWideOnly: true, cell: (day) => <FailedChecks day={day} /> },
              ]}
            />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
