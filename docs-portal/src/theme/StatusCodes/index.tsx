import Link from "@docusaurus/Link";
import { Fragment, type ReactNode } from "react";
import { ErrorTable } from "../../reference/ErrorTable.tsx";
import { FieldContent } from "../../reference/FieldList.tsx";
import { Html } from "../../reference/Html.tsx";
import type { OperationPageData } from "../../reference/page-data.ts";
import { Section } from "../../reference/Section.tsx";
import styles from "../../reference/section.module.css";

interface Props extends Pick<OperationPageData, "responses" | "errors" | "hasCommonErrors"> {
  title: string;
}

/** Renders the responses one below the other, and a table of the errors, except common errors. The original renders a tab for each status. */
export default function StatusCodes({ title, responses, errors, hasCommonErrors }: Props): ReactNode {
  return (
    <>
      <Section id="responses" title={title}>
        {responses.map(({ status, reason, description, bodies }) => (
          <section key={status} className={styles.response} id={`response-${status}`}>
            <h3 className={styles.status}>
              <span className={classOfStatus(status)}>{status === "default" ? reason : status}</span>{" "}
              {status !== "default" && reason}
            </h3>
            <Html className={styles.text} html={description} />
            {bodies.map((body) => (
              <Fragment key={body.mediaType}>
                <p className={styles.summary}>
                  <code>{body.mediaType}</code> {body.type}
                </p>
                <FieldContent content={body} />
              </Fragment>
            ))}
          </section>
        ))}
      </Section>
      {(errors.length > 0 || hasCommonErrors) && (
        <Section id="errors" title="Errors">
          {errors.length > 0 && <ErrorTable errors={errors} />}
          {hasCommonErrors && (
            <p className={styles.summary}>
              {errors.length > 0 ? "This operation can also return" : "This operation can return"} the{" "}
              <Link to="/docs/errors#common-errors">common errors</Link>.
            </p>
          )}
        </Section>
      )}
    </>
  );
}

/** Returns the style of a status. `default` stands for all other statuses, which are failures. */
function classOfStatus(status: string): string | undefined {
  if (status.startsWith("2")) return styles.success;
  return status.startsWith("3") ? styles.neutral : styles.failure;
}
