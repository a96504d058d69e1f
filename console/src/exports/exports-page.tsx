import { getRouteApi, Link, Navigate } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { hasAnyScope } from "../session/session.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { ButtonLink } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Table } from "../ui/table.tsx";
import { getRefetchMs } from "./bulk-export.ts";
import { BulkExportState } from "./export-state.tsx";
import { ExportTabs } from "./export-tabs.tsx";
import { StartBulkExportDialog } from "./start-bulk-export-dialog.tsx";

const route = getRouteApi("/exports");
const pageSize = 25;

/** The bulk exports of the location, and the form that starts one. */
export function ExportsPage() {
  const { key } = useSession();
  if (!hasAnyScope(key, "reports:read")) return <Navigate to="/exports/accounting" replace />;
  return <BulkExports />;
}

function BulkExports() {
  const { start, since, until, page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const { dayWithYear, bytes, number } = useFormats();
  const query = useApi(
    ["exports", page],
    (api) => api.GET("/v1/exports", { params: { query: { index: page, size: pageSize } } }),
    { refetchMs: ({ data }) => getRefetchMs(data) },
  );
  return (
    <Page
      title={text.exports.title}
      summary={text.exports.bulkSummary}
      actions={
        <>
          <ButtonLink to="/exports" search={{ start: "reports" }} variant="primary">
            {text.exports.start}
          </ButtonLink>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <ExportTabs />
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            <Table
              label={text.exports.bulk}
              rows={data}
              getKey={({ id }) => id}
              empty={text.exports.empty}
              columns={[
                {
                  header: text.exports.data,
                  isRowHeader: true,
                  cell: (item) => (
                    <Link to="/exports/$id" params={{ id: item.id }}>
                      {text.exports.dataNames[item.data]}
                    </Link>
                  ),
                },
                {
                  header: text.exports.days,
                  cell: (item) => text.exports.range(dayWithYear(item.since), dayWithYear(item.until)),
                },
                { header: text.exports.state, cell: (item) => <BulkExportState item={item} /> },
                {
                  header: text.exports.format,
                  isWideOnly: true,
                  cell: ({ format }) => text.exports.shortFormats[format],
                },
                {
                  header: text.exports.rows,
                  isNumeric: true,
                  isWideOnly: true,
                  cell: ({ progress }) => number(progress.rows),
                },
                {
                  header: text.exports.size,
                  isNumeric: true,
                  cell: ({ manifest }) => (manifest ? bytes(manifest.bytes) : "–"),
                },
                { header: text.exports.created, isWideOnly: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
                {
                  header: text.exports.expires,
                  isWideOnly: true,
                  cell: ({ expiresAt }) => (expiresAt === null ? "–" : <Moment at={expiresAt} />),
                },
              ]}
            />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
      {start && (
        <StartBulkExportDialog
          data={start}
          since={since}
          until={until}
          onClose={() => void navigate({ search: { page: page || undefined } })}
        />
      )}
    </Page>
  );
}
