import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { usageRangeOf } from "../requests/usage-range.ts";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Table } from "../ui/table.tsx";
import { CreateLocationDialog } from "./create-location-dialog.tsx";
import { NameFilter } from "./name-filter.tsx";
import { OperatorView } from "./operator-view.tsx";
import { SandboxesField } from "./sandboxes-field.tsx";
import { UsageCell } from "./usage-cell.tsx";
import { UsageRangeField } from "./usage-range-field.tsx";
import { useUsageOf } from "./use-usage.ts";

const route = getRouteApi("/operator/locations");
const pageSize = 20;

/** The locations by name, with the requests of their keys. */
export function LocationsPage() {
  const { name, range = "day", sandboxes, page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setIsCreating] = useState(false);
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
    <OperatorView
      title={text.operator.locations}
      actions={
        <>
          <Button variant="primary" onPress={() => setIsCreating(true)}>
            {text.operator.createLocation}
          </Button>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <Filters>
        <NameFilter
          value={name}
          onChange={(chosen) => void navigate({ search: (search) => ({ ...search, name: chosen, page: undefined }) })}
        />
        <UsageRangeField
          value={range}
          onChange={(chosen) => void navigate({ search: (search) => ({ ...search, range: chosen }) })}
        />
        <SandboxesField
          isIncluded={sandboxes === "included"}
          onChange={(chosen) =>
            void navigate({ search: (search) => ({ ...search, sandboxes: chosen, page: undefined }) })
          }
        />
      </Filters>
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            <Table
              label={text.operator.locations}
              rows={data}
              getKey={({ id }) => id}
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
                {
                  header: text.operator.requests,
                  isNumeric: true,
                  cell: ({ id }) => <UsageCell usage={usageOf(id)} count="requestCount" />,
                },
                {
                  header: text.operator.failed,
                  isNumeric: true,
                  cell: ({ id }) => <UsageCell usage={usageOf(id)} count="failedCount" />,
                },
                {
                  header: text.operator.created,
                  isWideOnly: true,
                  cell: ({ createdAt }) => <Moment at={createdAt} />,
                },
              ]}
            />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
      {isCreating && <CreateLocationDialog onClose={() => setIsCreating(false)} />}
    </OperatorView>
  );
}
