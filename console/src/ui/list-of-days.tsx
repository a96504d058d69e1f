import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiResponse } from "../api/use-api.ts";
import { CopyRequest } from "./copy-button.tsx";
import { type DayRange, DayRangeField, Filters } from "./fields.tsx";
import { Loaded } from "./loaded.tsx";
import { Page } from "./page.tsx";
import { type PageMeta, Pagination } from "./pagination.tsx";
import { type Column, Table } from "./table.tsx";

/** The filters of a list in the URL of its view. `page` is the zero-based index. */
interface ListSearch extends DayRange {
  page?: number | undefined;
}

/** Returns the filters of a list as the query of its request. */
export const toListQuery = ({ since, until, page = 0 }: ListSearch, size: number) => ({
  ...(since && { since }),
  ...(until && { until }),
  index: page,
  size,
});

interface ListOfDaysProps<Row> {
  title: string;
  summary: string;
  search: ListSearch;
  /** Called with the filters after a change, from the first page on. */
  onSearch: (search: ListSearch) => void;
  /** What can be done with the days, besides copying the request. */
  actions: ReactNode;
  query: UseQueryResult<ApiResponse<{ data: readonly Row[]; meta: PageMeta }>>;
  columns: Column<Row>[];
  getKey: (row: Row) => string;
  /** Shown if no row matches the chosen days. */
  empty: string;
  /** Shown if there is no row on any day. */
  none: string;
}

/** A view that lists what happened on the chosen days, page by page. */
export const ListOfDays = <Row,>({
  title,
  summary,
  search,
  onSearch,
  actions,
  query,
  empty,
  none,
  ...table
}: ListOfDaysProps<Row>) => (
  <Page
    title={title}
    summary={summary}
    actions={
      <>
        {actions}
        <CopyRequest url={query.data?.url} />
      </>
    }
  >
    <Filters>
      <DayRangeField
        since={search.since}
        until={search.until}
        onChange={(range) => onSearch({ ...search, ...range, page: undefined })}
      />
    </Filters>
    <Loaded query={query}>
      {({ data, meta }) => (
        <>
          <Table
            label={title}
            rows={data}
            empty={meta.totalCount === 0 && !search.since && !search.until ? none : empty}
            {...table}
          />
          <Pagination meta={meta} />
        </>
      )}
    </Loaded>
  </Page>
);
