import { hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";
import type { bulkExportData } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { ButtonLink } from "../ui/button.tsx";
import { canExport } from "./bulk-export.ts";

interface ExportLinkProps {
  data: (typeof bulkExportData)[number];
  since: string | undefined;
  until: string | undefined;
}

/** Opens the form of a bulk export of the days that a view shows. Absent if the key may not export them. */
export function ExportLink({ data, since, until }: ExportLinkProps) {
  const { key } = useSession();
  if (!hasAnyScope(key, "reports:read") || !canExport(key, data)) return null;
  return (
    <ButtonLink to="/exports" search={{ start: data, since, until }}>
      {text.exports.inBulk}
    </ButtonLink>
  );
}
