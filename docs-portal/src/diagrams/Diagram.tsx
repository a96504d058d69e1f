import ThemedImage from "@theme/ThemedImage";
import type { ReactNode } from "react";
import sizes from "../../diagrams/sizes.json";
import styles from "./diagram.module.css";

interface DiagramProps {
  /** The name of the source file in `diagrams`, without its extension. */
  name: keyof typeof sizes;
  /** A description of the diagram for screen readers. */
  alt: string;
}

/** Renders a diagram in the color mode of the page. The size is set, so that the page does not move when it loads. */
export function Diagram({ name, alt }: DiagramProps): ReactNode {
  const { width, height } = sizes[name];
  const drawingPath = (mode: "light" | "dark") => `/diagrams/${name}.${mode}.svg`;
  return (
    <figure className={styles.diagram}>
      <ThemedImage
        alt={alt}
        width={width}
        height={height}
        loading="lazy"
        sources={{ light: drawingPath("light"), dark: drawingPath("dark") }}
      />
    </figure>
  );
}
