import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { ApiResponse } from "../api/use-api.ts";
import type { UsageRangeName } from "../requests/usage-range.ts";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { type PageMeta, Pagination } from "../ui/pagination.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { NameFilter } from "./name-filter.tsx";
import { OperatorView } from "./operator-view.tsx";
import { SandboxesField } from "./sandboxes-field.tsx";
import { UsageRangeField } from "./usage-range-field.tsx";

/** The filters of a list in the URL of its view. */
interface OperatorListSearch {
  /** A part of the name. */
  name?: string | undefined;
  /** The range in which requests are counted. */
  range?: UsageRangeName | undefined;
  sandboxes?: "included" | undefined;
}

interface OperatorListProps<Row> {
  title: string;
  /** The text of the button that creates a row. */
  createLabel: string;
  /** Returns the dialog that the button opens. */
  renderCreateDialog: (onClose: () => void) => ReactNode;
  search: OperatorListSearch;
  /** Called with the changed filters, and with the first page if they select other rows. */
  onSearch: (changes: OperatorListSearch & { page?: undefined }) => void;
  query: UseQueryResult<ApiResponse<{ data: readonly Row[]; meta: PageMeta }>>;
  columns: Column<Row>[];
  empty: string;
}

/** A view for operators that lists what has a name and counts its requests, page by page. */
export function OperatorList<Row extends { id: string }>({
  title,
  createLabel,
  renderCreateDialog,
  search: { name, range = "day", sandboxes },
  onSearch,
  query,
  columns,
  empty,
}: OperatorListProps<Row>) {
  const [isCreating, setIsCreating] = useState(false);
  return (
    <OperatorView
      title={title}
      actions={
        <>
          <Button variant="primary" onPress={() => setIsCreating(true)}>
            {createLabel}
          </Button>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <Filters>
        <NameFilter value={name} onChange={(chosen) => onSearch({ name: chosen, page: undefined })} />
        <UsageRangeField value={range} onChange={(chosen) => onSearch({ range: chosen })} />
        <SandboxesField
          isIncluded={sandboxes === "included"}
          onChange={(chosen) => onSearch({ sandboxes: chosen, page: undefined })}
        />
      </Filters>
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            <Table label={title} rows={data} getKey={({ id }) => id} empty={empty} columns={columns} />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
      {isCreating && renderCreateDialog(() => setIsCreating(false))}
    </OperatorView>
  );
}
