import type { ReactNode } from "react";
import { BreakableName, FieldValues } from "./FieldList.tsx";
import { Html } from "./Html.tsx";
import styles from "./messages.module.css";
import type { MessageFieldData } from "./page-data.ts";

interface Props {
  fields: MessageFieldData[];
  kind?: "Field" | "Header";
}

/** The content of links whose symbol the stylesheet adds, as in the headings of the framework. */
const zeroWidthSpace = "\u200B";

/** Renders the fields or headers of a webhook message, each with an anchor. */
export function MessageFieldTable({ fields, kind = "Field" }: Props): ReactNode {
  return (
    <table className={styles.fields}>
      <thead>
        <tr>
          <th>{kind}</th>
          <th>Type</th>
          <th>Required</th>
          <th>Description</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ id, name, type, isRequired, html, values, object }) => (
          <tr key={id} id={id} className={styles.field}>
            <td data-label={kind}>
              <span className={styles.name}>
                <BreakableName name={name} />
              </span>
              <a className="hash-link" href={`#${id}`} aria-label={`Link to ${name}`}>
                {zeroWidthSpace}
              </a>
            </td>
            <td data-label="Type">
              {type}
              {object && (
                <>
                  {": "}
                  <a href={`#${object.anchor}`}>
                    <BreakableName name={object.name} />
                  </a>
                </>
              )}
            </td>
            <td data-label="Required">{isRequired ? "yes" : "no"}</td>
            <td data-label="Description">
              <Html html={html} />
              {values.length > 0 && <FieldValues values={values} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
