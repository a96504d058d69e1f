import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { usageRangeOf } from "../requests/usage-range.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { ChangeScopesDialog } from "./change-scopes-dialog.tsx";
import { CreateConsumerDialog } from "./create-consumer-dialog.tsx";
import { OperatorList } from "./operator-list.tsx";
import { createUsageColumns } from "./usage-columns.tsx";
import { useDefaultRateLimit } from "./use-default-rate-limit.ts";
import { useUsageOf } from "./use-usage.ts";

const route = getRouteApi("/operator/consumers");
const pageSize = 20;

/** The consumers by name, with what they may do, which can be changed, and the requests of their keys. */
export function ConsumersPage() {
  const search = route.useSearch();
  const { name, range = "day", sandboxes, page = 0 } = search;
  const navigate = route.useNavigate();
  const { number } = useFormats();
  const defaultRateLimit = useDefaultRateLimit();
  const rateOf = ({ perSecond, burst }: NonNullable<ApiSchemaTypes["Consumer"]["rateLimit"]>) =>
    text.operator.rateOf(number(perSecond), number(burst));
  const [changed, setChanged] = useState<ApiSchemaTypes["Consumer"] | null>(null);
  const query = useApi(["consumers", name, page], (api) =>
    api.GET("/v1/consumers", { params: { query: { ...(name && { name }), index: page, size: pageSize } } }),
  );
  const usageOf = useUsageOf("consumer", usageRangeOf(range), sandboxes === "included");
  const usageWithSandboxesOf = useUsageOf("consumer", usageRangeOf(range), true);
  const isOnlyOfSandboxes = (id: string) =>
    usageOf(id)?.requestCount === 0 && (usageWithSandboxesOf(id)?.requestCount ?? 0) > 0;
  return (
    <>
      <OperatorList
        title={text.operator.consumers}
        createLabel={text.operator.createConsumer}
        renderCreateDialog={(onClose) => <CreateConsumerDialog onClose={onClose} />}
        search={search}
        onSearch={(changes) => void navigate({ search: (current) => ({ ...current, ...changes }) })}
        query={query}
        empty={text.operator.noConsumers}
        columns={[
          {
            header: text.operator.name,
            isRowHeader: true,
            cell: (consumer) => <span className="long-name">{consumer.name}</span>,
          },
          {
            header: text.operator.scopes,
            isWideOnly: true,
            cell: ({ scopes }) => <span className="muted">{scopes.join(", ")}</span>,
          },
          {
            header: text.operator.rateLimit,
            isWideOnly: true,
            cell: ({ rateLimit }) =>
              rateLimit !== null
                ? rateOf(rateLimit)
                : text.operator.defaultRateLimit(defaultRateLimit && rateOf(defaultRateLimit)),
          },
          ...createUsageColumns<ApiSchemaTypes["Consumer"]>(usageOf, isOnlyOfSandboxes),
          {
            header: text.operator.change,
            cell: (consumer) => (
              <Button aria-label={text.operator.changeScopesOf(consumer.name)} onPress={() => setChanged(consumer)}>
                {text.operator.changeScopes}
              </Button>
            ),
          },
        ]}
      />
      {changed && <ChangeScopesDialog consumer={changed} onClose={() => setChanged(null)} />}
    </>
  );
}
