<<<<<<<< HEAD:web/dist/assets/page-head-CJxyxxRx.js
import{f as e,v as t,w as n}from"./index-DBfLO5_e.js";import{f as r,s as i}from"./i18n-DWG8zo4r.js";var a=r();function o({title:r}){let o=i(),s=e();return(0,a.jsxs)(`header`,{className:`page-head`,children:[(0,a.jsx)(n,{label:o.showSidebar,className:`only-narrow`,onClick:s.openSidebar,children:(0,a.jsx)(t,{size:18})}),(0,a.jsx)(`h1`,{children:r})]})}export{o as t};
========
import{f as e,v as t,w as n}from"./index-BxmU2TY9.js";import{f as r,s as i}from"./i18n-DuweXZ_w.js";var a=r();function o({title:r}){let o=i(),s=e();return(0,a.jsxs)(`header`,{className:`page-head`,children:[(0,a.jsx)(n,{label:o.showSidebar,className:`only-narrow`,onClick:s.openSidebar,children:(0,a.jsx)(t,{size:18})}),(0,a.jsx)(`h1`,{children:r})]})}export{o as t};
>>>>>>>> h-signin:web/dist/assets/page-head-BmYMGZ_z.js
