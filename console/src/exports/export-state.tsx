import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { isUnfinished, type ListedBulkExport } from "./bulk-export.ts";

const tones: Record<ListedBulkExport["state"], Tone> = {
  queued: "neutral",
  running: "info",
  done: "good",
  failed: "bad",
  removed: "neutral",
};

/** The state of a bulk export and, until it ends, how many days are done. */
export function BulkExportState({ item }: { item: ListedBulkExport }) {
  const { number } = useFormats();
  const { state, progress } = item;
  const days = text.exports.dayProgress(number(progress.daysDone), number(progress.daysTotal));
  return (
    <span className="export-state">
      <Badge tone={tones[state]}>{text.exports.states[state]}</Badge>
      {isUnfinished(item) && (
        <>
          <progress aria-label={text.exports.progress} max={progress.daysTotal} value={progress.daysDone} />
          <span className="muted">{days}</span>
        </>
      )}
    </span>
  );
}
