import { type FormEvent, useId, useRef, useState } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { hasAnyScope } from "../session/session.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { type Consumer, ConsumerField } from "./consumer-field.tsx";
import { LocationField, useLocationName } from "./location-field.tsx";
import { NewKey } from "./new-key.tsx";
import { initialScopes, pointOfSaleScopes, readScopes, type Scope, ScopeFields } from "./scope-fields.tsx";
import { ScopeList } from "./scope-list.tsx";

interface RequestedKey {
  /** The consumer; null to create it with these scopes first. */
  existing: { name: string } | null;
  newConsumer: { name: string; scopes: Scope[] };
  locationId: string;
  expiresAt: string | null;
}

interface CreateKeyDialogProps {
  /** The location for whose point of sale the key is; undefined for any other key. */
  pointOfSaleLocationId?: string | undefined;
  onClose: () => void;
}

/** Creates a key of an existing or a new consumer. The key is shown once. */
export function CreateKeyDialog({ pointOfSaleLocationId, onClose }: CreateKeyDialogProps) {
  // If the key is rejected, the next attempt uses the consumer that was created already.
  const createdConsumer = useRef<Consumer | null>(null);
  const creation = useApiChange(async (api, { existing, newConsumer, locationId, expiresAt }: RequestedKey) => {
    if (existing === null) {
      const { name, scopes } = newConsumer;
      if (createdConsumer.current?.name !== name)
        createdConsumer.current = (await api.POST("/v1/consumers", { body: { name } })).data;
      const { id } = createdConsumer.current;
      await api.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { scopes } });
    }
    const consumerName = existing?.name ?? newConsumer.name;
    const body = { consumerName, locationId, ...(expiresAt !== null && { expiresAt }) };
    const { data } = await api.POST("/v1/auth/keys", { body });
    return { data: { ...data, consumerName } };
  });
  return (
    <Dialog title={text.keys.create} isOpen isKept={creation.data !== undefined} onClose={onClose}>
      {creation.data ? (
        <NewKey apiKey={creation.data.apiKey} onDone={onClose}>
          {text.keys.createdKey(creation.data.consumerName)}
        </NewKey>
      ) : (
        <KeyForm
          pointOfSaleLocationId={pointOfSaleLocationId}
          onSubmit={creation.mutate}
          onCancel={onClose}
          isPending={creation.isPending}
          error={creation.error}
        />
      )}
    </Dialog>
  );
}

interface KeyFormProps {
  pointOfSaleLocationId: string | undefined;
  onSubmit: (key: RequestedKey) => void;
  onCancel: () => void;
  isPending: boolean;
  error: unknown;
}

const dayMs = 86_400_000;

function KeyForm({ pointOfSaleLocationId, onSubmit, onCancel, isPending, error }: KeyFormProps) {
  const id = useId();
  const { key } = useSession();
  const { dateTime } = useFormats();
  const canListConsumers = hasAnyScope(key, "consumers:write");
  const isForAnyLocation = hasAnyScope(key, "locations:any");
  const [isNew, setIsNew] = useState(pointOfSaleLocationId !== undefined);
  const [consumer, setConsumer] = useState<Consumer>();
  const [chosenLocationId, setChosenLocationId] = useState(pointOfSaleLocationId);
  const locationOfConsumer = isNew ? null : (consumer?.locationId ?? null);
  const locationId = locationOfConsumer ?? (isForAnyLocation ? chosenLocationId : key.location?.id);
  const isComplete = locationId !== undefined && (isNew || !canListConsumers || consumer !== undefined);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (locationId === undefined) return;
    const form = new FormData(event.currentTarget);
    const name = String(form.get("consumerName") ?? "").trim();
    const days = Number(form.get("expiry")) || null;
    onSubmit({
      existing: isNew ? null : { name: consumer?.name ?? name },
      newConsumer: { name, scopes: readScopes(form) },
      locationId,
      expiresAt: days === null ? null : new Date(Date.now() + days * dayMs).toISOString(),
    });
  }
  return (
    <form className="form" onSubmit={submit}>
      {canListConsumers && (
        <fieldset>
          <legend>{text.keys.whose}</legend>
          {[false, true].map((value) => (
            <label key={String(value)} className="checkbox">
              <input type="radio" name="isNew" checked={isNew === value} onChange={() => setIsNew(value)} />
              {value ? text.keys.newConsumer : text.keys.existingConsumer}
            </label>
          ))}
        </fieldset>
      )}
      {isNew || !canListConsumers ? (
        <div className="field">
          <label htmlFor={`${id}-name`}>{text.keys.consumerName}</label>
          <input id={`${id}-name`} name="consumerName" required minLength={2} maxLength={255} />
          <p className="hint">{text.keys.consumerHint}</p>
        </div>
      ) : (
        <ConsumerField value={consumer} onChange={setConsumer} />
      )}
      {isNew && pointOfSaleLocationId !== undefined && <p>{text.keys.pointOfSaleHint}</p>}
      {isNew && <ScopeFields selected={pointOfSaleLocationId === undefined ? initialScopes : pointOfSaleScopes} />}
      {!isNew && consumer && (
        <div>
          <h3>{text.keys.scopesOf}</h3>
          <ScopeList scopes={consumer.scopes} />
        </div>
      )}
      {locationOfConsumer === null && isForAnyLocation ? (
        <AnyLocationField value={chosenLocationId} onChange={setChosenLocationId} />
      ) : (
        <FixedLocation id={locationOfConsumer ?? key.location?.id} />
      )}
      <div className="field">
        <label htmlFor={`${id}-expiry`}>{text.keys.expiry}</label>
        <select id={`${id}-expiry`} name="expiry" defaultValue="365" aria-describedby={`${id}-limit`}>
          {Object.entries(text.keys.expiries).map(([days, name]) => (
            <option key={days} value={days}>
              {name}
            </option>
          ))}
        </select>
        <p className="hint" id={`${id}-limit`}>
          {key.expiresAt !== null && !isForAnyLocation && text.keys.expiryLimit(dateTime(key.expiresAt))}
        </p>
      </div>
      {error !== null && <ErrorNotice error={error} />}
      <div className="actions actions-end">
        <Button onPress={onCancel}>{text.dialog.cancel}</Button>
        <Button type="submit" variant="primary" isPending={isPending} isDisabled={!isComplete}>
          {text.keys.create}
        </Button>
      </div>
    </form>
  );
}

interface AnyLocationFieldProps {
  value: string | undefined;
  onChange: (locationId: string | undefined) => void;
}

/** A location by name or, for a key that cannot list locations, by its ID. */
function AnyLocationField({ value, onChange }: AnyLocationFieldProps) {
  const id = useId();
  const { key } = useSession();
  if (hasAnyScope(key, "locations:write"))
    return <LocationField anyLabel={text.keys.chooseLocation} value={value} onChange={onChange} />;
  return (
    <div className="field">
      <label htmlFor={id}>{text.keys.locationId}</label>
      <input
        id={id}
        required
        value={value ?? ""}
        onChange={({ target }) => onChange(target.value.trim() || undefined)}
      />
    </div>
  );
}

/** The location of the new key if there is no choice. */
function FixedLocation({ id }: { id: string | undefined }) {
  const { key } = useSession();
  const isOwn = id === key.location?.id;
  const otherName = useLocationName(isOwn || !hasAnyScope(key, "locations:write") ? undefined : id);
  return (
    <div className="field">
      <span className="label">{text.keys.location}</span>
      <span>{isOwn ? (key.location?.name ?? text.shell.unnamedLocation) : (otherName ?? id)}</span>
      <p className="hint">{isOwn ? text.keys.onlyOwnLocation : text.keys.consumerLocation}</p>
    </div>
  );
}
