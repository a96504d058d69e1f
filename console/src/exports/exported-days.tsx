import { useId } from "react";
import { addDays } from "../format/formats.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";

/** The number of days before today that are exported unless the reader chooses others. */
const defaultDays = 30;

interface ExportedDaysProps {
  since: string | undefined;
  until: string | undefined;
  hint: string;
}

/** The first and the last business day of an export, in a form. */
export function ExportedDays({ since, until, hint }: ExportedDaysProps) {
  const id = useId();
  const { isoDay } = useFormats();
  const lastDay = until ?? isoDay(new Date());
  return (
    <div>
      <div className="field-row">
        <div className="field">
          <label htmlFor={`${id}-since`}>{text.filters.since}</label>
          <input
            id={`${id}-since`}
            name="since"
            type="date"
            required
            defaultValue={since ?? addDays(lastDay, -defaultDays)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-until`}>{text.filters.until}</label>
          <input id={`${id}-until`} name="until" type="date" required defaultValue={lastDay} />
        </div>
      </div>
      <p className="hint">{hint}</p>
    </div>
  );
}

export const readExportedDays = (form: FormData): { since: string; until: string } => ({
  since: String(form.get("since")),
  until: String(form.get("until")),
});
