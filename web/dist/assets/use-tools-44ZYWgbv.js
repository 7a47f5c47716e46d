<<<<<<<< HEAD:web/dist/assets/use-tools-44ZYWgbv.js
import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{p as t}from"./i18n-DWG8zo4r.js";import{L as n}from"./index-DBfLO5_e.js";var r=e(t(),1),i;function a(){let[e,t]=(0,r.useState)([]);return(0,r.useEffect)(()=>{let e=!0;return i??=n(`GET`,`/api/tools`).then(e=>e.tools,()=>(i=void 0,[])),i.then(n=>e&&t(n)),()=>{e=!1}},[]),e}export{a as t};
========
import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{p as t}from"./i18n-DuweXZ_w.js";import{L as n}from"./index-BxmU2TY9.js";var r=e(t(),1),i;function a(){let[e,t]=(0,r.useState)([]);return(0,r.useEffect)(()=>{let e=!0;return i??=n(`GET`,`/api/tools`).then(e=>e.tools,()=>(i=void 0,[])),i.then(n=>e&&t(n)),()=>{e=!1}},[]),e}export{a as t};
>>>>>>>> h-signin:web/dist/assets/use-tools-D-7Pkbm7.js
