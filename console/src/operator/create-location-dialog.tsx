import { ApiProblem, type ApiSchemaTypes, currencyCodes } from "@pragma/client";
import { type FormEvent, useId } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { text } from "../text/text.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { TextField } from "../ui/text-field.tsx";

const applications = ["POPINA", "JALIA"] as const;

type Currency = NonNullable<ApiSchemaTypes["ChangeLocation"]["currencyCode"]>;

const defaultCurrency = "EUR";
const currencyNames = new Intl.DisplayNames("en", { type: "currency", fallback: "none" });
/** All other codes that begin with X are metals, units of account and the like. */
const currenciesOfUnions: readonly string[] = ["XAF", "XCD", "XCG", "XOF", "XPF"];
const currencies = currencyCodes.flatMap((code) => {
  const name = currencyNames.of(code);
  return name === undefined || (code.startsWith("X") && !currenciesOfUnions.includes(code)) ? [] : [{ code, name }];
});

/** The parts of the request that have a field, which shows what is wrong with them. */
const pathsOfFields = [
  "locationSettings.locationName",
  "organizationId",
  "agencyId",
  "locationSettings.timezone",
] as const;

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
  const errorOf = (path: (typeof pathsOfFields)[number]) =>
    creation.error instanceof ApiProblem
      ? creation.error.issues.find((issue) => issue.path === path)?.message
      : undefined;
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
          <TextField
            label={text.operator.name}
            name="name"
            maxLength={255}
            error={errorOf("locationSettings.locationName")}
          />
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
          {(["organizationId", "agencyId"] as const).map((name) => (
            <TextField
              key={name}
              label={text.operator[name]}
              name={name}
              maxLength={255}
              hint={text.operator[`${name}Hint`]}
              error={errorOf(name)}
            />
          ))}
          <TextField
            label={text.operator.timeZone}
            name="timezone"
            defaultValue="Europe/Paris"
            maxLength={64}
            hint={text.operator.timeZoneHint}
            suggestions={Intl.supportedValuesOf("timeZone")}
            error={errorOf("locationSettings.timezone")}
          />
          <div className="field">
            <label htmlFor={`${id}-currency`}>{text.operator.currency}</label>
            <select id={`${id}-currency`} name="currency" defaultValue={defaultCurrency}>
              {currencies.map(({ code, name }) => (
                <option key={code} value={code}>
                  {code} – {name}
                </option>
              ))}
            </select>
          </div>
          {creation.error && <ErrorNotice error={creation.error} pathsOfFields={pathsOfFields} />}
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
