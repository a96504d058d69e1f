import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { usageRangeOf } from "../requests/usage-range.ts";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Moment } from "../ui/moment.tsx";
import { CreateLocationDialog } from "./create-location-dialog.tsx";
import { OperatorList } from "./operator-list.tsx";
import { createUsageColumns } from "./usage-columns.tsx";
import { useUsageOf } from "./use-usage.ts";

const route = getRouteApi("/operator/locations");
const pageSize = 20;

/** The locations by name, with the requests of their keys. */
export function LocationsPage() {
  const search = route.useSearch();
  const { name, range = "day", sandboxes, page = 0 } = search;
  const navigate = route.useNavigate();
  const query = useApi(["locations", name, page, sandboxes], (api) =>
    api.GET("/v1/locations", {
      params: {
        query: {
          ...(name && { name }),
          ...(sandboxes && { includeSandboxes: "true" }),
          index: page,
          size: pageSize,
        },
      },
    }),
  );
  const usageOf = useUsageOf("location", usageRangeOf(range), sandboxes === "included");
  return (
    <OperatorList
      title={text.operator.locations}
      createLabel={text.operator.createLocation}
      renderCreateDialog={(onClose) => <CreateLocationDialog onClose={onClose} />}
      search={search}
      onSearch={(changes) => void navigate({ search: (current) => ({ ...current, ...changes }) })}
      query={query}
      empty={text.operator.noLocations}
      columns={[
        {
          header: text.operator.name,
          isRowHeader: true,
          cell: (location) => (
            <>
              <Link to="/operator/locations/$id" params={{ id: location.id }} className="long-name">
                {location.name ?? text.operator.unnamed(location.id)}
              </Link>{" "}
              {location.isSandbox && <Badge tone="neutral">{text.operator.sandbox}</Badge>}
            </>
          ),
        },
        { header: text.operator.application, isWideOnly: true, cell: ({ application }) => application },
        ...createUsageColumns<{ id: string }>(usageOf),
        { header: text.operator.created, isWideOnly: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
      ]}
    />
  );
}
