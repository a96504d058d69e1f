import Heading from "@theme/Heading";
import type { ReactNode } from "react";
import { TryItPanel } from "../try-it/TryItPanel.tsx";
import { ErrorTable } from "./ErrorTable.tsx";
import { EventMessagePanel } from "./EventMessagePanel.tsx";
import { FieldContent, FieldList } from "./FieldList.tsx";
import { Html } from "./Html.tsx";
import { MethodEndpoint } from "./MethodEndpoint.tsx";
import styles from "./operation.module.css";
import type { OperationPageData } from "./page-data.ts";

/** Renders the page of an operation or of a webhook message. All of its content is in the HTML of the build. */
export function OperationPage({ page }: { page: OperationPageData }): ReactNode {
  const { summary, description, parameterGroups, body, responses, errors, operation } = page;
  const isMessage = operation.method === "event";
  return (
    <div className={styles.layout}>
      <div className={styles.content}>
        <Heading as="h1">{summary}</Heading>
        <MethodEndpoint method={operation.method} path={operation.path} />
        <Html className={styles.text} html={description} />
        {parameterGroups.map(({ title, fields }) => (
          <Section key={title} id={title.toLowerCase().replace(" ", "-")} title={title}>
            <FieldList fields={fields} depth={1} />
          </Section>
        ))}
        {body && (
          <Section id="body" title={isMessage ? "Message body" : "Request body"}>
            <p className={styles.summary}>
              <code>{body.mediaType}</code> {body.type}
              {!body.isRequired && ", optional"}
            </p>
            <FieldContent content={body} />
          </Section>
        )}
        <Section id="responses" title={isMessage ? "Your response" : "Response"}>
          {responses.map((response) => (
            <section key={response.status} className={styles.response} id={`response-${response.status}`}>
              <h3 className={styles.status}>
                <span>{response.status === "default" ? response.reason : response.status}</span>{" "}
                {response.status !== "default" && response.reason}
              </h3>
              <Html className={styles.text} html={response.description} />
              {response.body && (
                <>
                  <p className={styles.summary}>
                    <code>{response.mediaType}</code> {response.body.type}
                  </p>
                  <FieldContent content={response.body} />
                </>
              )}
            </section>
          ))}
        </Section>
        {errors.length > 0 && (
          <Section id="errors" title="Errors">
            <ErrorTable errors={errors} />
          </Section>
        )}
      </div>
      <div className={styles.side}>
        {isMessage ? (
          <EventMessagePanel operation={operation} />
        ) : (
          <TryItPanel key={operation.operationId} operation={operation} />
        )}
      </div>
    </div>
  );
}

/** Renders a heading and its content as siblings, because the search assigns texts to the heading before them. */
function Section({ id, title, children }: { id: string; title: string; children: ReactNode }): ReactNode {
  return (
    <>
      <Heading as="h2" id={id} className={styles.heading}>
        {title}
      </Heading>
      <div>{children}</div>
    </>
  );
}
