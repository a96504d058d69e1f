import type { ApiSchemaTypes } from "@pragma/client";
import { Link } from "@tanstack/react-router";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Moment } from "../ui/moment.tsx";
import { Table } from "../ui/table.tsx";
import { LocationLink } from "./location-link.tsx";

type AuditEvent = ApiSchemaTypes["AuditEvent"];

interface AuditTableProps {
  events: readonly AuditEvent[];
  /** The names of locations by ID, which tell sandboxes apart. Absent if all events are about the same location. */
  locationNames?: ReadonlyMap<string, string>;
  empty: string;
}

export const AuditTable = ({ events, locationNames, empty }: AuditTableProps) => (
  <Table
    label={text.operator.audit}
    rows={events}
    getKey={({ id }) => id}
    empty={empty}
    columns={[
      {
        header: text.operator.when,
        isMergedIfNarrow: true,
        cell: ({ createdAt }) => <Moment at={createdAt} isOnOneLine />,
      },
      { header: text.operator.action, isRowHeader: true, cell: (event) => <AuditedChange event={event} /> },
      { header: text.operator.actor, cell: ({ actor }) => <Actor actor={actor} /> },
      ...(locationNames
        ? [
            {
              header: text.operator.location,
              cell: ({ locationId, locationName }: AuditEvent) =>
                locationId === null ? (
                  <span className="muted">–</span>
                ) : (
                  <LocationLink id={locationId} name={locationNames.get(locationId) ?? locationName ?? undefined} />
                ),
            },
          ]
        : []),
    ]}
  />
);

const isoTime = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

function AuditedChange({ event: { action, target, details, createdAt } }: { event: AuditEvent }) {
  const { dateTime } = useFormats();
  const facts = Object.entries(details).flatMap(([name, value]) => {
    const shown = Array.isArray(value) ? value.join(", ") : value;
    if (shown === null || shown === "") return [];
    return `${name}: ${typeof shown === "string" && isoTime.test(shown) ? dateTime(shown) : shown}`;
  });
  const description = facts.length > 0 ? facts.join(" · ") : target.id;
  return (
    <>
      {text.operator.actions[action]}
      <p className="row-details narrow-only">
        <Moment at={createdAt} isOnOneLine />
      </p>
      <p className="row-details">
        <code>{action}</code>
        {description !== null && ` · ${description}`}
      </p>
    </>
  );
}

function Actor({ actor: { type, keyId, consumer, clientAddress } }: Pick<AuditEvent, "actor">) {
  if (type !== "key") return text.operator.actors[type];
  return (
    <>
      <Link to="/operator/audit" search={{ actor: keyId ?? undefined }}>
        {consumer}
      </Link>
      <p className="row-details">{clientAddress}</p>
    </>
  );
}
