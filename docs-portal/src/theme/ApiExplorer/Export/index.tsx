import type { ReactNode } from "react";

/** Renders a link to the OpenAPI document. It replaces the link of the theme, which works only with a mouse. */
export default function Export({ url }: { url: string }): ReactNode {
  return (
    <p>
      <a className="button button--sm button--secondary" href={url} download="pragma-openapi.json">
        Download the OpenAPI document
      </a>
    </p>
  );
}
