import type { ApiSchemaTypes } from "@pragma/client";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { text } from "../text/text.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { NamedChoiceField, namedChoiceSize } from "../ui/named-choice-field.tsx";

export type Consumer = ApiSchemaTypes["Consumer"];

interface ConsumerFieldProps {
  value: Consumer | undefined;
  onChange: (consumer: Consumer | undefined) => void;
}

/** A consumer, chosen by name from the list of consumers. */
export function ConsumerField({ value, onChange }: ConsumerFieldProps) {
  const [name, setName] = useState<string>();
  const query = useApi(["consumers", name], (api) =>
    api.GET("/v1/consumers", { params: { query: { ...(name && { name }), size: namedChoiceSize } } }),
  );
  const found = query.data?.data.data ?? [];
  const choices = value === undefined || found.some(({ id }) => id === value.id) ? found : [value, ...found];
  return (
    <>
      {query.error && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      <NamedChoiceField
        label={text.keys.consumer}
        anyLabel={text.keys.chooseConsumer}
        choices={choices}
        totalCount={query.data?.data.meta.totalCount ?? 0}
        value={value?.id}
        onChange={(chosen) => onChange(choices.find(({ id }) => id === chosen))}
        onFind={setName}
        hint={text.keys.consumerHint}
      />
    </>
  );
}
