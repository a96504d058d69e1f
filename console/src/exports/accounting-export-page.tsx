import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { type AccountingExport, AccountingExportState } from "./accounting-export-state.tsx";
import { getRefetchMs, isUnfinished } from "./bulk-export.ts";
import { ExportFile, ExportFiles } from "./export-files.tsx";
import { RefusedTills } from "./refused-tills.tsx";

const route = getRouteApi("/exports/accounting/$id");

/** One accounting export: its files, and the tills that were refused with the reasons. */
export function AccountingExportPage() {
  const { id } = route.useParams();
  const query = useApi(
    ["accounting export", id],
    (api) => api.GET("/v1/accounting/exports/{id}", { params: { path: { id } } }),
    { refetchMs: (item) => getRefetchMs([item]) },
  );
  return (
    <Page
      title={text.accounting.titleOne}
      summary={<Link to="/exports/accounting">{text.accounting.back}</Link>}
      actions={<CopyRequest url={query.data?.url} />}
    >
      <Loaded query={query}>
        {(item) => (
          <>
            <About item={item} />
            {!isUnfinished(item) && (
              <>
                <Files item={item} />
                <RefusedTills item={item} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function About({ item }: { item: AccountingExport }) {
  const { number } = useFormats();
  const { id, state, tills, createdAt, finishedAt } = item;
  const countOf = (wanted: string) => tills.filter((till) => till.state === wanted).length;
  return (
    <Section title={text.exports.about}>
      <Facts
        facts={[
          [text.exports.state, <AccountingExportState key="state" state={state} />],
          [text.accounting.tills, number(tills.length)],
          [text.accounting.exported, isUnfinished(item) ? null : number(countOf("done"))],
          [text.accounting.refused, isUnfinished(item) ? null : number(countOf("failed"))],
          [text.exports.created, <Moment key="created" at={createdAt} />],
          [text.exports.finished, finishedAt !== null && <Moment key="finished" at={finishedAt} />],
          [text.exports.id, <code key="id">{id}</code>],
        ]}
      />
    </Section>
  );
}

function Files({ item: { id, files } }: { item: AccountingExport }) {
  const { bytes } = useFormats();
  const configs = useApi(["accounting configs"], (api) =>
    api.GET("/v1/accounting/configs", { params: { query: { size: 100 } } }),
  );
  const nameOf = (configId: string) =>
    configs.data?.data.data.find((config) => config.id === configId)?.name ?? configId.slice(0, 8);
  return (
    <ExportFiles empty={text.accounting.noFiles}>
      {files.map((file) => (
        <ExportFile
          key={file.number}
          name={file.name}
          bytes={file.size}
          open={(api) =>
            api.GET("/v1/accounting/exports/{id}/files/{number}", {
              params: { path: { id, number: file.number } },
              parseAs: "stream",
            })
          }
          details={[
            nameOf(file.accountingConfigId),
            text.accounting.providers[file.accountingProvider],
            text.accounting.tillCount(file.tills),
            text.accounting.entryCount(file.entries),
            bytes(file.size),
          ]}
        />
      ))}
    </ExportFiles>
  );
}
