import type { ApiSchemaTypes } from "@pragma/client";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiResponse } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Section } from "../ui/section.tsx";
import { type Column, Table } from "../ui/table.tsx";

/** The period after which the use of limits is read again, in milliseconds. */
export const limitsRefetchMs = 30_000;

/** The number of rows that are shown. */
const maxShownLimits = 8;

interface LimitTableProps<Data, Row> {
  title: string;
  hint: string;
  query: UseQueryResult<ApiResponse<Data>>;
  /** Returns the rows, the most important first. Only the first few are shown. */
  toRows: (data: Data) => readonly Row[];
  getKey: (row: Row) => string;
  columns: Column<Row>[];
  empty: string;
  /** Shown before the table, such as what could not be read. */
  renderNotice?: (data: Data) => ReactNode;
}

/** The first rows of a list about the use of limits. */
export function LimitTable<Data, Row>(props: LimitTableProps<Data, Row>) {
  const { title, hint, query, toRows, renderNotice, ...table } = props;
  return (
    <Section title={title} actions={<CopyRequest url={query.data?.url} />}>
      <p className="section-hint">{hint}</p>
      <Loaded query={query}>
        {(data) => (
          <>
            {renderNotice?.(data)}
            <Table label={title} rows={toRows(data).slice(0, maxShownLimits)} {...table} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

type KeyOwner = Pick<ApiSchemaTypes["UsageCount"], "consumerName" | "locationId" | "locationName">;

/** The columns that name whose key sent requests. */
export const keyOwnerColumns: Column<KeyOwner>[] = [
  {
    header: text.operator.consumer,
    isRowHeader: true,
    cell: ({ consumerName }) => <span className="long-name">{consumerName}</span>,
  },
  {
    header: text.operator.location,
    isWideOnly: true,
    cell: ({ locationId, locationName }) =>
      locationId === null ? text.operator.operatorKey : (locationName ?? text.operator.unnamed(locationId)),
  },
];

/** A share of a limit from which it is soon exceeded, because requests do not arrive evenly. */
const nearlyUsed = 0.7;

/** The used share of a limit; undefined if the limit is unknown. */
export function UsedShare({ share }: { share: number | undefined }) {
  const { rate } = useFormats();
  if (share === undefined) return "–";
  const used = rate(Math.round(share * 100) * 100);
  return share < nearlyUsed ? used : <Badge tone={share < 1 ? "warning" : "bad"}>{used}</Badge>;
}
