import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { text } from "../text/text.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { NamedChoiceField, namedChoiceSize } from "../ui/named-choice-field.tsx";

interface LocationFieldProps {
  anyLabel: string;
  value: string | undefined;
  onChange: (locationId: string | undefined) => void;
}

/** A location, chosen by name from the list of locations. */
export function LocationField({ anyLabel, value, onChange }: LocationFieldProps) {
  const [name, setName] = useState<string>();
  const query = useApi(["locations", name], (api) =>
    api.GET("/v1/locations", { params: { query: { ...(name && { name }), size: namedChoiceSize } } }),
  );
  const found = query.data?.data.data ?? [];
  const chosen = useLocationName(found.some(({ id }) => id === value) ? undefined : value);
  const choices = found.map(({ id, name: locationName }) => ({
    id,
    name: locationName ?? text.keys.unnamedLocation(id.slice(0, 8)),
  }));
  return (
    <>
      {query.error && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      <NamedChoiceField
        label={text.keys.location}
        anyLabel={anyLabel}
        choices={chosen === undefined || value === undefined ? choices : [{ id: value, name: chosen }, ...choices]}
        totalCount={query.data?.data.meta.totalCount ?? 0}
        value={value}
        onChange={onChange}
        onFind={setName}
      />
    </>
  );
}

/** Returns the name of a location; undefined without an ID and until it is loaded. */
export function useLocationName(id: string | undefined): string | undefined {
  const query = useApi(
    ["location", id],
    (api) => api.GET("/v1/locations/{id}", { params: { path: { id: id ?? "" } } }),
    { isEnabled: id !== undefined },
  );
  if (id === undefined || query.data === undefined || query.isPlaceholderData) return undefined;
  const { establishmentName, locationName } = query.data.data.locationSettings;
  return establishmentName ?? locationName ?? text.keys.unnamedLocation(id.slice(0, 8));
}
