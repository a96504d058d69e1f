import { type ApiSchemaTypes, currencyCodes } from "@pragma/client";
import { type FormEvent, useId } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { text } from "../text/text.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { TextField } from "./text-field.tsx";

const applications = ["POPINA", "JALIA"] as const;

type Currency = NonNullable<ApiSchemaTypes["ChangeLocation"]["currencyCode"]>;

const defaultCurrency = "EUR";
const currencyNames = new Intl.DisplayNames("en", { type: "currency" });

interface NewLocation {
  name: string;
  application: (typeof applications)[number];
  organizationId: string;
  agencyId: string;
  timezone: string;
  currencyCode: Currency;
}

/** Creates a location with what is required, and with what reports depend on. The API has defaults for all else. */
export function CreateLocationDialog({ onClose }: { onClose: () => void }) {
  const id = useId();
  const creation = useApiChange((api, { name, timezone, ...location }: NewLocation) =>
    api.POST("/v1/locations", { body: { ...location, locationSettings: { locationName: name, timezone } } }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const read = (name: string) => String(form.get(name) ?? "").trim();
    creation.mutate({
      name: read("name"),
      application: applications.find((name) => name === read("application")) ?? applications[0],
      organizationId: read("organizationId"),
      agencyId: read("agencyId"),
      timezone: read("timezone"),
      // The list contains only the codes that the API accepts.
      currencyCode: read("currency") as Currency,
    });
  }
  return (
    <Dialog title={text.operator.createLocation} isOpen onClose={onClose}>
      {creation.data ? (
        <>
          <p role="status">{text.operator.createdLocation(creation.variables.name)}</p>
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.done}</Button>
            <ButtonLink to="/operator/locations/$id" params={{ id: creation.data.id }}>
              {text.operator.openLocation}
            </ButtonLink>
            <ButtonLink variant="primary" to="/keys" search={{ location: creation.data.id, create: "pointOfSaleKey" }}>
              {text.operator.createKey}
            </ButtonLink>
          </div>
        </>
      ) : (
        <form className="form" onSubmit={submit}>
          <TextField label={text.operator.name} name="name" maxLength={255} />
          <div className="field">
            <label htmlFor={`${id}-application`}>{text.operator.application}</label>
            <select id={`${id}-application`} name="application" aria-describedby={`${id}-application-hint`}>
              {applications.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
            <p className="hint" id={`${id}-application-hint`}>
              {text.operator.applicationHint}
            </p>
          </div>
          <TextField
            label={text.operator.organizationId}
            name="organizationId"
            maxLength={255}
            hint={text.operator.organizationIdHint}
          />
          <TextField label={text.operator.agencyId} name="agencyId" maxLength={255} hint={text.operator.agencyIdHint} />
          <TextField
            label={text.operator.timeZone}
            name="timezone"
            defaultValue="Europe/Paris"
            maxLength={64}
            hint={text.operator.timeZoneHint}
            suggestions={Intl.supportedValuesOf("timeZone")}
          />
          <div className="field">
            <label htmlFor={`${id}-currency`}>{text.operator.currency}</label>
            <select id={`${id}-currency`} name="currency" defaultValue={defaultCurrency}>
              {currencyCodes.map((code) => (
                <option key={code} value={code}>
                  {code} – {currencyNames.of(code)}
                </option>
              ))}
            </select>
          </div>
          {creation.error && <ErrorNotice error={creation.error} />}
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.cancel}</Button>
            <Button type="submit" variant="primary" isPending={creation.isPending}>
              {text.operator.createLocation}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
