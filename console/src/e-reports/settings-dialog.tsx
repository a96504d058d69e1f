import { ApiProblem, type ApiSchemaTypes } from "@pragma/client";
import { type FormEvent, useId } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { vatRegimes } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { TextField } from "../ui/text-field.tsx";

type Declarant = ApiSchemaTypes["EReportDeclarant"];
type NewSettings = ApiSchemaTypes["PutEReportDeclarant"];

/** The service types that orders with an unknown one can have. */
const serviceTypes = ["eatin", "takeout", "delivery"] as const;

/** The parts of the request that have a field, which shows what is wrong with them. */
const pathsOfFields = ["siren", "companyName", "platform.number", "platform.name"] as const;

interface SettingsDialogProps {
  /** The business whose settings are changed. Absent: a business is set up. */
  declarant?: Declarant | undefined;
  onClose: () => void;
}

/** Stores what a business has declared to the administration. Its locations and categories are set with the API. */
export function SettingsDialog({ declarant, onClose }: SettingsDialogProps) {
  const id = useId();
  const change = useApiChange((api, { siren, ...body }: NewSettings & { siren: string }) =>
    api.PUT("/v1/e-reporting/declarants/{siren}", { params: { path: { siren } }, body }),
  );
  const errorOf = (path: (typeof pathsOfFields)[number]) =>
    change.error instanceof ApiProblem ? change.error.issues.find((issue) => issue.path === path)?.message : undefined;
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const read = (name: string) => String(form.get(name) ?? "").trim();
    const readChoice = <Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]) =>
      choices.find((choice) => choice === read(name)) ?? choices[0];
    const settings = {
      siren: declarant?.siren ?? read("siren").replaceAll(/\s/g, ""),
      companyName: read("companyName"),
      vatRegime: readChoice("vatRegime", vatRegimes),
      vatOnDebitsSince: read("vatOnDebitsSince") || null,
      platform: { number: read("platformNumber"), name: read("platformName") },
      defaultServiceType: readChoice("defaultServiceType", serviceTypes),
      categories: declarant?.categories ?? [],
    };
    change.mutate(settings, { onSuccess: onClose });
  }
  return (
    <Dialog
      title={declarant ? text.eReports.settingsOf(declarant.companyName) : text.eReports.setUp}
      isOpen
      onClose={onClose}
    >
      <form className="form" onSubmit={submit}>
        {!declarant && (
          <TextField
            label={text.eReports.siren}
            name="siren"
            maxLength={20}
            hint={text.eReports.sirenHint}
            error={errorOf("siren")}
          />
        )}
        <TextField
          label={text.eReports.companyName}
          name="companyName"
          maxLength={99}
          defaultValue={declarant?.companyName ?? ""}
          error={errorOf("companyName")}
        />
        <div className="field">
          <label htmlFor={`${id}-regime`}>{text.eReports.vatRegime}</label>
          <select
            id={`${id}-regime`}
            name="vatRegime"
            defaultValue={declarant?.vatRegime ?? "monthly"}
            aria-describedby={`${id}-regime-hint`}
          >
            {vatRegimes.map((regime) => (
              <option key={regime} value={regime}>
                {text.eReports.vatRegimes[regime]}
              </option>
            ))}
          </select>
          <p className="hint" id={`${id}-regime-hint`}>
            {text.eReports.vatRegimeHint}
          </p>
        </div>
        <div className="field">
          <label htmlFor={`${id}-debits`}>{text.eReports.vatOnDebitsSince}</label>
          <input
            id={`${id}-debits`}
            name="vatOnDebitsSince"
            type="date"
            defaultValue={declarant?.vatOnDebitsSince ?? ""}
            aria-describedby={`${id}-debits-hint`}
          />
          <p className="hint" id={`${id}-debits-hint`}>
            {text.eReports.vatOnDebitsHint}
          </p>
        </div>
        <TextField
          label={text.eReports.platformNumber}
          name="platformNumber"
          maxLength={4}
          defaultValue={declarant?.platform.number ?? ""}
          hint={text.eReports.platformHint}
          error={errorOf("platform.number")}
        />
        <TextField
          label={text.eReports.platformName}
          name="platformName"
          maxLength={99}
          defaultValue={declarant?.platform.name ?? ""}
          error={errorOf("platform.name")}
        />
        <div className="field">
          <label htmlFor={`${id}-service`}>{text.eReports.defaultServiceType}</label>
          <select
            id={`${id}-service`}
            name="defaultServiceType"
            defaultValue={declarant?.defaultServiceType ?? "eatin"}
          >
            {serviceTypes.map((serviceType) => (
              <option key={serviceType} value={serviceType}>
                {text.orders.services[serviceType]}
              </option>
            ))}
          </select>
        </div>
        <p className="hint">{text.eReports.settingsHint}</p>
        {change.error && <ErrorNotice error={change.error} pathsOfFields={pathsOfFields} />}
        <div className="actions actions-end">
          <Button onPress={onClose}>{text.dialog.cancel}</Button>
          <Button type="submit" variant="primary" isPending={change.isPending}>
            {text.eReports.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
