import { getRouteApi } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useSession } from "../session/session-context.tsx";
import { auditActors } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { ChoiceField, DayRangeField, Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { AuditTable } from "./audit-table.tsx";
import { OperatorView } from "./operator-view.tsx";
import { useLocationNames } from "./use-names.ts";

const route = getRouteApi("/operator/audit");
const pageSize = 25;

/** More names would make the list of the filter too long. The page of a location leads to its changes, too. */
const maxOfferedLocations = 100;

/** Who changed what, with filters. */
export function AuditPage() {
  const { key } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { action, actor, location, since, until, page = 0 } = search;
  const filters = {
    ...(action && { action }),
    ...(actor && { actor }),
    ...(location && { locationId: location }),
    ...(since && { since }),
    ...(until && { until }),
  };
  const query = useApi(["audit", filters, page], (api) =>
    api.GET("/v1/audit", { params: { query: { ...filters, index: page, size: pageSize } } }),
  );
  // Only the filter needs the names of all locations, and it is used after the entries have been read.
  const locationNames = useLocationNames({ isEnabled: location !== undefined || query.isFetched });
  const setFilter = (changes: Partial<typeof search>) =>
    void navigate({ search: (current) => ({ ...current, ...changes, page: undefined }) });
  const offered = [...locationNames].slice(0, maxOfferedLocations);
  if (location && offered.every(([id]) => id !== location))
    offered.push([location, locationNames.get(location) ?? location.slice(0, 8)]);
  return (
    <OperatorView
      title={text.operator.audit}
      summary={text.operator.auditSummary}
      actions={<CopyRequest url={query.data?.url} />}
    >
      <Filters>
        <ChoiceField
          label={text.operator.action}
          choices={text.operator.actions}
          value={action}
          onChange={(chosen) => setFilter({ action: chosen })}
          anyLabel={text.filters.all}
        />
        <ChoiceField
          label={text.operator.actor}
          choices={{
            ...Object.fromEntries(auditActors.map((name) => [name, text.operator.actors[name]])),
            [key.id]: text.operator.thisKey(key.prefix),
            ...(actor && !auditActors.some((name) => name === actor) && actor !== key.id
              ? { [actor]: text.operator.thisKey(actor) }
              : {}),
          }}
          value={actor}
          onChange={(chosen) => setFilter({ actor: chosen })}
          anyLabel={text.filters.all}
        />
        <ChoiceField
          label={text.operator.location}
          choices={Object.fromEntries(offered)}
          value={location}
          onChange={(chosen) => setFilter({ location: chosen })}
          anyLabel={text.filters.all}
        />
        <DayRangeField since={since} until={until} onChange={setFilter} />
      </Filters>
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            <AuditTable events={data} locationNames={locationNames} empty={text.operator.noEvents} />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
    </OperatorView>
  );
}
