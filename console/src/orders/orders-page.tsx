import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useId } from "react";
import { useApi } from "../api/use-api.ts";
import { ExportLink } from "../exports/export-link.tsx";
import { isUuid } from "../search-params.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { DayRangeField, Filters } from "../ui/fields.tsx";
import { Loaded, Progress } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { OrderTable } from "./order-table.tsx";
import { maxSearchedOrders, useOrderSearch } from "./use-order-search.ts";

const route = getRouteApi("/orders");
const pageSize = 25;

/** The orders of closed shifts, by day or by report, and a search by ID, table or amount. */
export function OrdersPage() {
  const { since, until, report, find } = route.useSearch();
  const navigate = route.useNavigate();
  const inputId = useId();
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const wanted = String(new FormData(event.currentTarget).get("find")).trim();
    if (isUuid(wanted)) return void navigate({ to: "/orders/$id", params: { id: wanted } });
    void navigate({ search: (search) => ({ ...search, find: wanted || undefined, page: undefined }) });
  }
  return (
    <Page
      title={text.orders.title}
      summary={text.orders.summary}
      actions={<ExportLink data="orders" since={since} until={until} />}
    >
      <Filters>
        <DayRangeField
          since={since}
          until={until}
          onChange={(range) => void navigate({ search: (search) => ({ ...search, ...range, page: undefined }) })}
        />
        <form className="field field-search" onSubmit={submit}>
          <label htmlFor={inputId}>{text.orders.find}</label>
          <span className="input-with-button">
            <input
              id={inputId}
              key={find}
              name="find"
              defaultValue={find}
              placeholder={text.orders.findExample}
              aria-describedby={`${inputId}-hint`}
            />
            <Button type="submit">{text.orders.search}</Button>
          </span>
        </form>
        <p className="hint" id={`${inputId}-hint`}>
          {text.orders.findHint(maxSearchedOrders)}
        </p>
        {report && (
          <p className="filter-chip">
            {text.orders.ofReport} <code>{report.slice(0, 8)}</code>{" "}
            <Link to="/orders" search={(search) => ({ ...search, report: undefined, page: undefined })}>
              {text.filters.remove}
            </Link>
          </p>
        )}
      </Filters>
      {find ? <FoundOrders find={find} /> : <OrderList />}
    </Page>
  );
}

function useOrderQuery() {
  const { since, until, report } = route.useSearch();
  return { ...(since && { since }), ...(until && { until }), ...(report && { reportId: report }) };
}

function OrderList() {
  const { page = 0 } = route.useSearch();
  const filters = useOrderQuery();
  const query = useApi(["orders", filters, page], (api) =>
    api.GET("/v1/orders", { params: { query: { ...filters, index: page, size: pageSize } } }),
  );
  return (
    <>
      <div className="actions actions-end">
        <CopyRequest url={query.data?.url} />
      </div>
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            <OrderTable
              orders={data}
              empty={Object.keys(filters).length === 0 ? text.orders.none : text.orders.empty}
            />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
    </>
  );
}

function FoundOrders({ find }: { find: string }) {
  const { number } = useFormats();
  const { found, searchedCount, totalCount, isSearching, url, error, goOn } = useOrderSearch(useOrderQuery(), find);
  const isComplete = !isSearching && !error;
  return (
    <>
      <div className="actions actions-end">
        <CopyRequest url={url} label={text.orders.copySearched} />
      </div>
      {error && <ErrorNotice error={error} isRetrying={isSearching} onRetry={goOn} />}
      {found ? (
        <>
          <p role="status">
            {text.orders.found(found.length)}{" "}
            {(isComplete ? text.orders.searched : text.orders.searching)(number(searchedCount), number(totalCount))}
            {isComplete && searchedCount < totalCount && ` ${text.orders.chooseFewerDays}`}
          </p>
          {(found.length > 0 || isComplete) && <OrderTable orders={found} empty={text.orders.nothingFound} />}
        </>
      ) : (
        !error && <Progress />
      )}
    </>
  );
}
