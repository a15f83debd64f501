/** VitePress' own theme with a wider page, because the reference pages are tables. */
import theme from "vitepress/theme";
import "./style.css";

export default theme;
