import type { ReactNode } from "react";

/** The link to the OpenAPI document: the theme's own needs a mouse. */
export default function Export({ url }: { url: string }): ReactNode {
  return (
    <p>
      <a className="button button--sm button--secondary" href={url} download="pragma-openapi.json">
        Download the OpenAPI document
      </a>
    </p>
  );
}
