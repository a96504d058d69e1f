import { Link } from "@tanstack/react-router";
import { hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { LinkRow } from "../ui/link-row.tsx";

/** The kinds of exports. Absent if the key may use only one of them. */
export function ExportTabs() {
  const { key } = useSession();
  if (!hasAnyScope(key, "reports:read") || !hasAnyScope(key, "accounting:write")) return null;
  const options = { activeOptions: { exact: true, includeSearch: false }, className: "view-tab" };
  return (
    <LinkRow className="view-tabs" label={text.exports.kinds}>
      <Link to="/exports" {...options}>
        {text.exports.bulk}
      </Link>
      <Link to="/exports/accounting" {...options}>
        {text.exports.accounting}
      </Link>
    </LinkRow>
  );
}
