import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { type BulkExport, getRefetchMs, isUnfinished } from "./bulk-export.ts";
import { DownloadButton, type DownloadButtonProps } from "./download-button.tsx";
import { ExportFile, ExportFiles } from "./export-files.tsx";
import { BulkExportState } from "./export-state.tsx";

const route = getRouteApi("/exports/$id");

/** One bulk export: its progress, and its files when it is done. */
export function BulkExportPage() {
  const { id } = route.useParams();
  const [isDeleting, setIsDeleting] = useState(false);
  const query = useApi(["export", id], (api) => api.GET("/v1/exports/{id}", { params: { path: { id } } }), {
    refetchMs: (item) => getRefetchMs([item]),
  });
  const item = query.data?.data;
  const title = item ? text.exports.titleOf(text.exports.dataNames[item.data]) : text.exports.title;
  return (
    <Page
      title={title}
      summary={<Link to="/exports">{text.exports.back}</Link>}
      actions={
        <>
          <Button variant="danger" isDisabled={!item} onPress={() => setIsDeleting(true)}>
            {text.exports.delete}
          </Button>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <Loaded query={query}>
        {(loaded) => (
          <>
            <About item={loaded} />
            <Files item={loaded} />
          </>
        )}
      </Loaded>
      {isDeleting && item && <DeleteDialog item={item} onClose={() => setIsDeleting(false)} />}
    </Page>
  );
}

function About({ item }: { item: BulkExport }) {
  const { dayWithYear, number, bytes } = useFormats();
  const { failure, progress, manifest, finishedAt, expiresAt } = item;
  return (
    <Section title={text.exports.about}>
      {failure && (
        <p className="notice notice-bad" role="alert">
          {failure.message}
        </p>
      )}
      <Facts
        facts={[
          [text.exports.state, <BulkExportState key="state" item={item} />],
          [text.exports.days, text.exports.range(dayWithYear(item.since), dayWithYear(item.until))],
          [text.exports.format, text.exports.shortFormats[item.format]],
          [text.exports.rows, number(progress.rows)],
          [text.exports.size, manifest && bytes(manifest.bytes)],
          [text.exports.created, <Moment key="created" at={item.createdAt} />],
          [text.exports.finished, finishedAt !== null && <Moment key="finished" at={finishedAt} />],
          [text.exports.expires, expiresAt !== null && <Moment key="expires" at={expiresAt} />],
          [text.exports.id, <code key="id">{item.id}</code>],
        ]}
      />
    </Section>
  );
}

const manifestName = "manifest.json";

function Files({ item }: { item: BulkExport }) {
  const { dayWithYear, bytes } = useFormats();
  const { id, files, state } = item;
  if (state !== "done")
    return isUnfinished(item) ? <ExportFiles empty={text.exports.filesLater}>{[]}</ExportFiles> : null;
  const open =
    (name: string): DownloadButtonProps["open"] =>
    (api) =>
      api.GET("/v1/exports/{id}/files/{name}", { params: { path: { id, name } }, parseAs: "stream" });
  return (
    <ExportFiles
      empty={text.exports.noFiles}
      actions={
        <DownloadButton
          name={manifestName}
          bytes={0}
          label={text.exports.downloadOf(manifestName)}
          open={open(manifestName)}
        />
      }
    >
      {files.map((file) => (
        <ExportFile
          key={file.name}
          name={file.name}
          bytes={file.bytes}
          open={open(file.name)}
          details={[
            text.exports.range(dayWithYear(file.firstDay), dayWithYear(file.lastDay)),
            text.exports.rowCount(file.rows),
            bytes(file.bytes),
          ]}
        />
      ))}
    </ExportFiles>
  );
}

function DeleteDialog({ item, onClose }: { item: BulkExport; onClose: () => void }) {
  const navigate = useNavigate();
  const { dayWithYear } = useFormats();
  const deletion = useApiChange(async (api, id: string) => {
    const result = await api.DELETE("/v1/exports/{id}", { params: { path: { id } } });
    // Before everything is read again, because the export no longer exists.
    await navigate({ to: "/exports" });
    return result;
  });
  const name = `${text.exports.dataNames[item.data]}, ${text.exports.range(dayWithYear(item.since), dayWithYear(item.until))}`;
  return (
    <Dialog title={text.exports.delete} isOpen onClose={onClose}>
      <p>{text.exports.deleteHint(name)}</p>
      {deletion.error && <ErrorNotice error={deletion.error} />}
      <div className="actions actions-end">
        <Button onPress={onClose}>{text.dialog.cancel}</Button>
        <Button variant="danger" isPending={deletion.isPending} onPress={() => deletion.mutate(item.id)}>
          {text.exports.delete}
        </Button>
      </div>
    </Dialog>
  );
}
