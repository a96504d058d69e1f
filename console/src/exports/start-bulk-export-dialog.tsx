import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { useSession } from "../session/session-context.tsx";
import { bulkExportData, bulkExportFormats } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { type BulkExport, canExport } from "./bulk-export.ts";
import { ExportedDays, readExportedDays } from "./exported-days.tsx";

type NewBulkExport = Pick<BulkExport, "data" | "format" | "since" | "until">;

interface StartBulkExportDialogProps {
  data: BulkExport["data"];
  since: string | undefined;
  until: string | undefined;
  onClose: () => void;
}

/** Starts a bulk export, and opens it. */
export function StartBulkExportDialog({ data, since, until, onClose }: StartBulkExportDialogProps) {
  const id = useId();
  const { key } = useSession();
  const navigate = useNavigate();
  const start = useApiChange((api, body: NewBulkExport) => api.POST("/v1/exports", { body }));
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const chosen = bulkExportData.find((name) => name === form.get("data")) ?? data;
    const format = bulkExportFormats.find((name) => name === form.get("format")) ?? "csv";
    start.mutate(
      { data: chosen, format, ...readExportedDays(form) },
      { onSuccess: (created) => void navigate({ to: "/exports/$id", params: { id: created.id } }) },
    );
  }
  return (
    <Dialog title={text.exports.start} isOpen onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <div className="field">
          <label htmlFor={`${id}-data`}>{text.exports.data}</label>
          <select id={`${id}-data`} name="data" defaultValue={data}>
            {bulkExportData
              .filter((name) => canExport(key, name))
              .map((name) => (
                <option key={name} value={name}>
                  {text.exports.dataNames[name]}
                </option>
              ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}-format`}>{text.exports.format}</label>
          <select id={`${id}-format`} name="format" defaultValue="csv">
            {bulkExportFormats.map((name) => (
              <option key={name} value={name}>
                {text.exports.formats[name]}
              </option>
            ))}
          </select>
        </div>
        <ExportedDays since={since} until={until} hint={text.exports.daysHint} />
        {start.error && <ErrorNotice error={start.error} />}
        <div className="actions actions-end">
          <Button onPress={onClose}>{text.dialog.cancel}</Button>
          <Button type="submit" variant="primary" isPending={start.isPending}>
            {text.exports.start}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
