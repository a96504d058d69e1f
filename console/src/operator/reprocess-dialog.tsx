import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { RadioGroup } from "./radio-group.tsx";

/** The query of each choice. The API takes the largest version that it stores for all tills. */
const selections = {
  missing: { lteReportVersion: 0 },
  timeZone: { onlyOtherTimeZone: "true" },
  all: { lteReportVersion: 2 ** 31 - 1 },
} as const;

const progressMs = 1_000;

interface ReprocessDialogProps {
  locationId: string;
  onClose: () => void;
}

/** Starts a reprocessing of the location's tills, and shows how many of them are queued. */
export function ReprocessDialog({ locationId, onClose }: ReprocessDialogProps) {
  const { number } = useFormats();
  const [choice, setChoice] = useState<keyof typeof selections>("missing");
  const start = useApiChange((api, selected: keyof typeof selections) =>
    api.POST("/v1/tills/reprocess", { params: { query: { locationId, ...selections[selected] } } }),
  );
  const id = start.data?.id ?? "";
  const progress = useApi(
    ["reprocessing", id],
    (api) => api.GET("/v1/tills/reprocess/{id}", { params: { path: { id } } }),
    { isEnabled: id !== "", refetchMs: ({ finishedAt }) => (finishedAt === null ? progressMs : 0) },
  );
  const job = progress.data?.data ?? start.data;
  return (
    <Dialog title={text.operator.reprocess} isOpen onClose={onClose}>
      <p>{text.operator.reprocessHint}</p>
      {job ? (
        <p role="status" className="notice">
          {job.total === 0
            ? text.operator.nothingToReprocess
            : job.finishedAt === null
              ? text.operator.reprocessed(number(job.done), number(job.total))
              : text.operator.reprocessDone(number(job.total))}
        </p>
      ) : (
        <RadioGroup
          label={text.operator.reprocessWhich}
          choices={text.operator.reprocessChoices}
          value={choice}
          onChange={setChoice}
        />
      )}
      {(start.error ?? progress.error) && <ErrorNotice error={start.error ?? progress.error} />}
      <div className="actions actions-end">
        <Button onPress={onClose}>{job ? text.dialog.done : text.dialog.cancel}</Button>
        {!job && (
          <Button variant="primary" isPending={start.isPending} onPress={() => start.mutate(choice)}>
            {text.operator.reprocess}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
