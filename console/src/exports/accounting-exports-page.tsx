import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { hasAnyScope } from "../session/session.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { AccountingExportState } from "./accounting-export-state.tsx";
import { getRefetchMs } from "./bulk-export.ts";
import { ExportTabs } from "./export-tabs.tsx";
import { StartAccountingExportDialog } from "./start-accounting-export-dialog.tsx";

const route = getRouteApi("/exports/accounting");
const pageSize = 25;

/** The accounting exports of the location, the configs that they apply, and the form that starts one. */
export function AccountingExportsPage() {
  const { key } = useSession();
  // The navigation shows exports also to keys that may use only bulk exports.
  if (!hasAnyScope(key, "accounting:write"))
    return (
      <p className="notice notice-warning" role="alert">
        {text.shell.needsScope(["accounting:write"])}
      </p>
    );
  return <AccountingExports />;
}

function AccountingExports() {
  const { page = 0, since, until } = route.useSearch();
  const { key } = useSession();
  const { number, bytes } = useFormats();
  const [isStarting, setIsStarting] = useState(false);
  const canStart = hasAnyScope(key, "reports:read");
  const query = useApi(
    ["accounting exports", page],
    (api) => api.GET("/v1/accounting/exports", { params: { query: { index: page, size: pageSize } } }),
    { refetchMs: ({ data }) => getRefetchMs(data) },
  );
  return (
    <Page
      title={text.exports.title}
      summary={text.accounting.summary}
      actions={
        <>
          <Button variant="primary" isDisabled={!canStart} onPress={() => setIsStarting(true)}>
            {text.accounting.start}
          </Button>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <ExportTabs />
      {!canStart && <p className="notice">{text.accounting.needsReports}</p>}
      <Section title={text.exports.accounting}>
        <Loaded query={query}>
          {({ data, meta }) => (
            <>
              <Table
                label={text.exports.accounting}
                rows={data}
                getKey={({ id }) => id}
                empty={text.accounting.empty}
                columns={[
                  {
                    header: text.exports.created,
                    isRowHeader: true,
                    cell: ({ id, createdAt }) => (
                      <Link to="/exports/accounting/$id" params={{ id }}>
                        <Moment at={createdAt} />
                      </Link>
                    ),
                  },
                  { header: text.exports.state, cell: ({ state }) => <AccountingExportState state={state} /> },
                  {
                    header: text.accounting.tills,
                    isNumeric: true,
                    cell: ({ tillCount }) => number(tillCount),
                  },
                  {
                    header: text.accounting.refused,
                    isNumeric: true,
                    cell: ({ failedTillCount: count }) => (
                      <span className={count > 0 ? "bad" : undefined}>{number(count)}</span>
                    ),
                  },
                  {
                    header: text.exports.files,
                    isNumeric: true,
                    isWideOnly: true,
                    cell: ({ fileCount }) => number(fileCount),
                  },
                  {
                    header: text.exports.size,
                    isNumeric: true,
                    isWideOnly: true,
                    cell: (item) => bytes(item.bytes),
                  },
                ]}
              />
              <Pagination meta={meta} />
            </>
          )}
        </Loaded>
      </Section>
      <Configs />
      {isStarting && <StartAccountingExportDialog since={since} until={until} onClose={() => setIsStarting(false)} />}
    </Page>
  );
}

function Configs() {
  const query = useApi(["accounting configs"], (api) =>
    api.GET("/v1/accounting/configs", { params: { query: { size: 100 } } }),
  );
  return (
    <Section title={text.accounting.configs} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data }) => (
          <Table<ApiSchemaTypes["AccountingConfig"]>
            label={text.accounting.configs}
            rows={data}
            getKey={({ id }) => id}
            empty={text.accounting.noConfigs}
            columns={[
              { header: text.accounting.config, isRowHeader: true, cell: ({ name }) => name },
              {
                header: text.accounting.journal,
                cell: ({ journalCode, journalLabel }) => (
                  <>
                    <Badge tone="neutral">{journalCode}</Badge> {journalLabel}
                  </>
                ),
              },
              { header: text.accounting.changed, isWideOnly: true, cell: ({ updatedAt }) => <Moment at={updatedAt} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
