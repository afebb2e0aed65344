import{$,Badge,Button,Copy,D,Dialog,Empty,ErrorBox,Field,LinkButton,Note,Panel,S,Text,U,b,base,bytes,call,count,developer,duration,facts,full,get,i,link,load,ownKeys,
route,saveFile,say,segment,shell,toldTools,useLoaded,visible,w}from"./chunk.js";var TOKEN=/[\s,\uFEFF]+|#[^\n]*|\.\.\.|[A-Za-z_][A-Za-z0-9_]*|-?[0-9][0-9.eE+-]*|[^]/y,NAME=/^[A-Za-z_]/,KINDS=new Set(["type","interface","input","enum","union",
"scalar"]),CLOSING={"(":")","[":"]","{":"}"};function readSchema(text2){if(text2.length>1e6)return null;let at2=new Reader(text2),found=new Map,roots={},isCut=!1;
for(;at2.token;){let description=at2.description(),isMore=at2.takes("extend"),word=at2.take();if(word==="schema"){at2.directives(),at2.block("{",()=>{let[operation,
type2]=[at2.take(),at2.after(":")];type2&&/^(query|mutation|subscription)$/.test(operation)&&(roots[operation]=type2)});continue}if(word==="directive"){at2.skipDirective();
continue}if(!KINDS.has(word)||!NAME.test(at2.text))continue;let name=at2.take(),type=found.get(name)??{kind:word,name,description:"",fields:[],members:[]};!isMore&&
description&&(type.description=description),found.size>=1e3&&!found.has(name)?isCut=!0:found.set(name,type),at2.takes("implements")&&at2.names(type.members,"&"),
at2.directives(),word==="union"&&at2.takes("=")&&at2.names(type.members,"|"),at2.block("{",()=>{let field=at2.field();field&&type.fields.length<300?type.fields.
push(field):field&&(isCut=!0)})}let named3=["query","mutation","subscription"].map(operation=>roots[operation]??(Object.keys(roots).length===0?operation[0].toUpperCase()+
operation.slice(1):""));return{types:[...found.values()],roots:named3.filter(name=>found.has(name)),isCut}}var nameIn=type=>type.replace(/[^A-Za-z0-9_]/g,""),Reader=class{constructor(source){
this.source=source;this.next()}source;token=null;place=0;get text(){return this.token?.string===null?this.token.text:""}next(){for(this.token=null;this.token===
null&&this.place<this.source.length;){if(this.source[this.place]==='"'){this.token=this.string();continue}TOKEN.lastIndex=this.place;let text2=TOKEN.exec(this.source)?.[0]??
this.source[this.place];this.place+=text2.length,/^[\s,\uFEFF#]/.test(text2)||(this.token={text:text2,string:null})}}string(){let from=this.place,{source}=this;
if(source.startsWith('"""',from)){let end=source.indexOf('"""',from+3);for(;end>0&&source[end-1]==="\\";)end=source.indexOf('"""',end+3);return this.place=end<0?
source.length:end+3,{text:source.slice(from,this.place),string:blockOf(source.slice(from+3,end<0?source.length:end))}}let at2=from+1;for(;at2<source.length&&source[at2]!==
'"'&&source[at2]!==`
`;)at2+=source[at2]==="\\"?2:1;this.place=Math.min(at2+1,source.length);let inside=source.slice(from+1,at2).replace(/\\(["\\/])/g,"$1").replace(/\\n/g,`
`).replace(/\\[bfrt]/g," ");return{text:source.slice(from,this.place),string:inside}}take(){let{text:text2}=this;return this.next(),text2}takes(text2){return this.
text!==text2?!1:(this.next(),!0)}description(){let text2=this.token?.string??"";return this.token&&this.token.string!==null&&this.next(),text2}after(sign){return this.
takes(sign)?this.take():""}names(into,sign){for(this.takes(sign);NAME.test(this.text);){let name=this.take();if(into.length<300&&!into.includes(name)&&into.push(
name),!this.takes(sign)&&sign==="|")return}}block(sign,entry2){if(this.takes(sign)){for(;this.token&&this.text!==CLOSING[sign];){let before=this.place,was=this.
token;entry2(),this.place===before&&this.token===was&&this.next()}this.next()}}field(){let one=this.argument(!0);return one&&{...one,args:this.lastArguments}}lastArguments=[];argument(isField){
let description=this.description();if(!NAME.test(this.text))return null;let name=this.take(),args=[];isField&&this.block("(",()=>{let one=this.argument(!1);one&&
args.length<300&&args.push(one)});let type=this.takes(":")?this.type():"",value=this.takes("=")?this.value():"",deprecated=this.directives();return this.lastArguments=
args,{name,description,type,value,deprecated}}type(){let text2="";for(;this.token&&(/^[[\]!]$/.test(this.text)||NAME.test(this.text)&&!/[A-Za-z0-9_]/.test(text2));){
let is=this.take();text2.length<300&&(text2+=is)}return text2}value(){let text2="",depth=0;do{let token=this.token?.text??"";if(token in CLOSING)depth++;else if(Object.
values(CLOSING).includes(token)){if(depth===0)break;depth--}text2.length<300&&(text2+=(/[\w"\]}]$/.test(text2)&&/^[\w"$[{-]/.test(token)?", ":"")+(token===":"?"\
: ":token)),this.next()}while(this.token&&depth>0);return text2.slice(0,300)}directives(){let deprecated=null;for(;this.takes("@");){let isDeprecated=this.take()===
"deprecated";isDeprecated&&(deprecated??=""),this.block("(",()=>{let name=this.take();if(!this.takes(":"))return;let said=this.token?.string;isDeprecated&&name===
"reason"&&said&&(deprecated=said),this.value()})}return deprecated}skipDirective(){this.takes("@"),this.take(),this.block("(",()=>{this.argument(!1)}),this.takes(
"repeatable"),this.takes("on")&&this.names([],"|")}};function blockOf(text2){let lines=text2.replaceAll('\\"""','"""').split(/\r\n|[\n\r]/),deep=lines.slice(1).
filter(line2=>line2.trim()).reduce((least,line2)=>Math.min(least,line2.length-line2.trimStart().length),1e3);return lines.map((line2,index)=>index===0?line2.trimStart():
line2.slice(deep)).join(`
`).trim()}function V(){return{async:!1,breaks:!1,extensions:null,gfm:!0,hooks:null,pedantic:!1,renderer:null,silent:!1,tokenizer:null,walkTokens:null}}var P=V();function xe(r){
P=r}var L={exec:()=>null};function B(r){let e=[];return t=>{let n=Math.max(0,Math.min(3,t-1)),s=e[n];return s||(s=r(n),e[n]=s),s}}function g(r,e=""){let t=typeof r==
"string"?r:r.source,n={replace:(s,l)=>{let i2=typeof l=="string"?l:l.source;return i2=i2.replace(S2.caret,"$1"),t=t.replace(s,i2),n},getRegex:()=>new RegExp(t,e)};
return n}var be=((r="")=>{try{return!!new RegExp("(?<=1)(?<!1)"+r)}catch{return!1}})(),S2={codeRemoveIndent:/^(?: {0,3}\t| {1,4})/gm,listInterruptsParagraph:/^ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t\n]/,
outputLinkReplace:/\\([\[\]])/g,indentCodeCompensation:/^(\s+)(?:```)/,beginningSpace:/^\s+/,endingHash:/#$/,startingSpaceChar:/^ /,endingSpaceChar:/ $/,endingSpaceTabChar:/[ \t]$/,
nonSpaceChar:/[^ ]/,newLineCharGlobal:/\n/g,tabCharGlobal:/\t/g,leadingSpaceTab:/^[ \t]+/,multipleSpaceGlobal:/\s+/g,blankLine:/^[ \t]*$/,doubleBlankLine:/\n[ \t]*\n[ \t]*$/,
blockquoteStart:/^ {0,3}>/,blockquoteSetextReplace:/\n {0,3}((?:=+|-+)[ \t]*)(?=\n|$)/g,blockquoteSetextReplace2:/^ {0,3}>[ \t]?/gm,blockquoteMarkerWhitespace:/^( {0,3}>)(\t[ \t]*)/gm,
nestedBlockMarker:/^ {0,3}(?:(?:[*+-]|\d{1,9}[.)])(?: |$)|> ?)/,listReplaceNesting:/^ {1,4}(?=( {4})*[^ ])/g,listIsTask:/^\[[ xX]\][ \t]+\S/,listReplaceTask:/^\[[ xX]\][ \t]+/,
listTaskCheckbox:/\[[ xX]\]/,anyLine:/\n.*\n/,hrefBrackets:/^<(.*)>$/,tableDelimiter:/[:|]/,tableAlignChars:/^\||\| *$/g,tableRowBlankLine:/\n[ \t]*$/,tableAlignRight:/^ *-+: *$/,
tableAlignCenter:/^ *:-+: *$/,tableAlignLeft:/^ *:-+ *$/,startATag:/^<a /i,endATag:/^<\/a>/i,startPreScriptTag:/^<(pre|code|kbd|script)(\s|>)/i,endPreScriptTag:/^<\/(pre|code|kbd|script)(\s|>)/i,
startAngleBracket:/^</,endAngleBracket:/>$/,pedanticHrefTitle:/^([^'"]*[^\s])\s+(['"])(.*)\2/,unicodeAlphaNumeric:/[\p{L}\p{N}]/u,numericCharacterReference:/&#(?:(\d{1,7})|[Xx]([A-Fa-f0-9]{1,6}));/,
numericCharacterReferenceOrAmpersand:/&#(?:(\d{1,7})|[Xx]([A-Fa-f0-9]{1,6}));|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/g,escapeTest:/[&<>"']/,escapeReplace:/[&<>"']/g,
escapeTestNoEncode:/[<>"']|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/,escapeReplaceNoEncode:/[<>"']|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/g,caret:/(^|[^\[])\^/g,
percentDecode:/%25/g,findPipe:/\|/g,splitPipe:/ \|/,slashPipe:/\\\|/g,carriageReturn:/\r\n|\r/g,spaceLine:/^ +$/gm,notSpaceStart:/^\S*/,endingNewline:/\n$/,listItemRegex:r=>new RegExp(
`^( {0,3}${r})((?:[	 ][^\\n]*)?(?:\\n|$))`),nextBulletRegex:B(r=>new RegExp(`^ {0,${r}}(?:[*+-]|\\d{1,9}[.)])((?:[ 	][^\\n]*)?(?:\\n|$))`)),hrRegex:B(r=>new RegExp(
`^ {0,${r}}((?:-[ 	]*){3,}|(?:_[ 	]*){3,}|(?:\\*[ 	]*){3,})(?:\\n+|$)`)),fencesBeginRegex:B(r=>new RegExp(`^ {0,${r}}(?:\`\`\`|~~~)`)),headingBeginRegex:B(r=>new RegExp(
`^ {0,${r}}#{1,6}(?:\\s|$)`)),pedanticHeadingBeginRegex:B(r=>new RegExp(`^ {0,${r}}#`)),htmlBeginRegex:B(r=>new RegExp(`^ {0,${r}}(?:</?(?:${le})(?:[ \\t]+|$|/?>\
)|<(?:(?:script|pre|style|textarea)(?:[\\s>]|$)|!--)|<\\?|<![A-Za-z]|<!\\[CDATA\\[)`,"i")),blockquoteBeginRegex:B(r=>new RegExp(`^ {0,${r}}>`)),nestedContainerMarkers:/^(?: {0,3}(?:(?:[*+-]|\d{1,9}[.)])[ \t]+|>[ \t]?))+/},
Qe=/^(?:[ \t]*(?:\n|$))+/,He=/^((?: {4}| {0,3}\t)[^\n]+(?:\n(?:[ \t]*(?:\n|$))*)?)+/,Ne=/^ {0,3}(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})([^\n]*)(?:\n|$)(?:|([\s\S]*?)(?:\n|$))(?: {0,3}(?:(?=`)\1`*|(?=~)\1~*) *(?=\n|$)|$)/,
F=/^ {0,3}((?:-[\t ]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})(?:\n+|$)/,Fe=/^ {0,3}(#{1,6})(?=\s|$)(.*)(?:\n+|$)/,ie=/ {0,3}(?:[*+-]|\d{1,9}[.)])/,le="address|ar\
ticle|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-\
6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|meta|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thea\
d|title|tr|track|ul",W=g(" {0,3}(?:</?(?:tag)(?:[ \\t]+|\\n|/?>)|<(?:(?:script|pre|style|textarea)(?:[\\s>]|$)|!--)|<\\?|<![A-Za-z]|<!\\[CDATA\\[)").replace("ta\
g",le).getRegex(),me=/^(?!bull |blockCode|fences|blockquote|heading|html|table)((?:.|\n(?!\s*?\n|bull |fences|blockquote|heading|hr|html|table))+?)\n {0,3}(=+|-+)[ \t]*(?:\n+|$)/,
we=g(me).replace(/bull/g,ie).replace(/blockCode/g,/(?: {4}| {0,3}\t)/).replace(/fences/g,/ {0,3}(?:`{3,}|~{3,})/).replace(/blockquote/g,/ {0,3}>/).replace(/heading/g,
/ {0,3}#{1,6}(?:\s|$)/).replace(/hr/g,/ {0,3}(?:(?:-[\t ]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})(?:\n+|$)/).replace(/\|table/g,"").replace(/html/g,W).getRegex(),
We=g(me).replace(/bull/g,ie).replace(/blockCode/g,/(?: {4}| {0,3}\t)/).replace(/fences/g,/ {0,3}(?:`{3,}|~{3,})/).replace(/blockquote/g,/ {0,3}>/).replace(/heading/g,
/ {0,3}#{1,6}(?:\s|$)/).replace(/hr/g,/ {0,3}(?:(?:-[\t ]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})(?:\n+|$)/).replace(/table/g,/ {0,3}\|?(?:[:\- ]*\|)+[\:\- ]*\n/).
replace(/html/g,W).getRegex(),ae=/^([^\n]+(?:\n(?!hr|heading|lheading|blockquote|fences|list|html|table|[ \t]+\n)[^\n]+)*)/,Xe=/^[^\n]+/,oe=/(?!\s*\])(?:\\[\s\S]|[^\[\]\\\n]|\n(?![ \t]*\n))+/,
Ge=g(/^ {0,3}\[(label)\]: *(?:\n[ \t]*)?([^<\s][^\s]*|<(?:\\.|[^\n<>\\])*>)(?:(?: +(?:\n[ \t]*)?| *\n[ \t]*)(title))? *(?:\n+|$)/).replace("label",oe).replace("\
title",/(?:"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\\n]|\n(?!\n))*'|\((?:\\[\s\S]|[^()\\])*\))/).getRegex(),Ue=g(/^(bull)([ \t][^\n]*?)?(?:\n|$)/).replace(/bull/g,
ie).getRegex(),ce=/<!--(?:-?>|[\s\S]*?(?:-->|$))/,Ke=g("^ {0,3}(?:<(script|pre|style|textarea)[\\s>][\\s\\S]*?(?:</\\1>[^\\n]*\\n*|$)|comment[^\\n]*(\\n+|$)|<\\?[\\s\\S]*?\
(?:\\?>[^\\n]*\\n*|$)|<![A-Z][\\s\\S]*?(?:>[^\\n]*\\n*|$)|<!\\[CDATA\\[[\\s\\S]*?(?:\\]\\]>[^\\n]*\\n*|$)|</?(tag)(?:[ \\t]+|\\n|/?>|$)[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$)|<(?!(?:script\
|pre|style|textarea)(?![a-z0-9-]))([a-z][a-z0-9-]*)(?:attribute)*?[ \\t]*/?>(?=[ \\t]*(?:\\n|$))[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$)|</[a-z][a-z0-9-]*\\s*>(?=[ \\t]*(?:\\n|$)\
)[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$))","i").replace("comment",ce).replace("tag",le).replace("attribute",/[ \t]+[a-zA-Z:_][\w.:-]*(?:[ \t]*=[ \t]*"[^"\n]*"|[ \t]*=[ \t]*'[^'\n]*'|[ \t]*=[ \t]*[^\s"'=<>`]+)?/).
getRegex(),Se=r=>g(ae).replace("hr",F).replace("heading"," {0,3}#{1,6}(?:\\s|$)").replace("|lheading","").replace("|table","").replace("blockquote"," {0,3}>").replace(
"fences"," {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|~~~)[^\\n]*(?:\\n|$)").replace("list",r).replace("html",W).getRegex(),Je=Se(/ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t\n]/),
Ve=Se(/ {0,3}(?:[*+-]|\d{1,9}[.)])(?:[ \t]|\n|$)/),Ye=g(/^( {0,3}> ?(?:(?![ \t]*(?:\n|$))(paragraph)|[^\n]*)(?:\n|$))+/).replace("paragraph",Ve).getRegex(),he={
blockquote:Ye,code:He,def:Ge,fences:Ne,heading:Fe,hr:F,html:Ke,lheading:we,list:Ue,newline:Qe,paragraph:Je,table:L,text:Xe},$e=g("^ *([^\\n ].*)\\n {0,3}((?:\\| *)\
?:?-+:? *(?:\\| *:?-+:? *)*(?:\\| *)?)(?:\\n((?:(?! *\\n|hr|heading|blockquote|code|fences|list|html).*(?:\\n|$))*)\\n*|$)").replace("hr",F).replace("heading","\
 {0,3}#{1,6}(?:\\s|$)").replace("blockquote"," {0,3}>").replace("code","(?: {4}| {0,3}	)[^\\n]").replace("fences"," {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|~~~)[^\\n]*(\
?:\\n|$)").replace("list"," {0,3}(?:[*+-]|1[.)])[ \\t]").replace("html",W).getRegex(),et={...he,lheading:We,table:$e,paragraph:g(ae).replace("hr",F).replace("he\
ading"," {0,3}#{1,6}(?:\\s|$)").replace("|lheading","").replace("table",$e).replace("blockquote"," {0,3}>").replace("fences"," {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|\
~~~)[^\\n]*(?:\\n|$)").replace("list"," {0,3}(?:[*+-]|1[.)])[ \\t]+[^ \\t\\n]").replace("html",W).getRegex()},tt={...he,html:g(`^ *(?:comment(?: *\\n|\\s*$)|<(tag\
)[\\s\\S]+?</\\1>(?: *\\n{2,}|\\s*$)|<tag(?:"[^"]*"|'[^']*'|\\s[^'"/>\\s]*)*?/?>(?: *\\n{2,}|\\s*$))`).replace("comment",ce).replace(/tag/g,"(?!(?:a|em|strong|s\
mall|s|cite|q|dfn|abbr|data|time|code|var|samp|kbd|sub|sup|i|b|u|mark|ruby|rt|rp|bdi|bdo|span|br|wbr|ins|del|img)\\b)\\w+(?!:|[^\\w\\s@]*@)\\b").getRegex(),def:/^ *\[([^\]]+)\]: *<?([^\s>]+)>?(?: +(["(][^\n]+[")]))? *(?:\n+|$)/,
heading:/^(#{1,6})(.*)(?:\n+|$)/,fences:L,lheading:/^(.+?)\n {0,3}(=+|-+) *(?:\n+|$)/,paragraph:g(ae).replace("hr",F).replace("heading",` *#{1,6} *[^
]`).replace("|table","").replace("blockquote"," {0,3}>").replace("|fences","").replace("|list","").replace("|html","").replace("|tag","").replace("lheading",we).
getRegex()},rt=/^\\([!"#$%&'()*+,\-./:;<=>?@\[\]\\^_`{|}~])/,nt=/^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/,ye=/^( {2,}|\\)\n(?!\s*$)[ \t]*/,st=/^(`+|[^`])(?:(?= {2,}\n)|[\s\S]*?(?:(?=[\\<!\[`*_]|\b_|$)|[^ ](?= {2,}\n)))/,
T=/[\p{P}\p{S}]/u,M=/[\s\p{P}\p{S}]/u,X=/[^\s\p{P}\p{S}]/u,it=g(/^((?![*_])punctSpace)/,"u").replace(/punctSpace/g,M).getRegex(),lt=/[\p{Pi}\p{Ps}"']/u,Re=/(?!~)[\p{P}\p{S}]/u,
at=/(?!~)[\s\p{P}\p{S}]/u,ot=/(?:[^\s\p{P}\p{S}]|~)/u,ct=g(/link|precode-code|html/,"g").replace("link",/\[(?:[^\[\]`]|(?<a>`+)[^`]+\k<a>(?!`))*?\]\((?:\\[\s\S]|[^\\\(\)]|\((?:\\[\s\S]|[^\\\(\)])*\))*\)/).
replace("precode-",be?"(?<!`)()":"(^^|[^`])").replace("code",/(?<b>`+)[^`]+\k<b>(?!`)/).replace("html",/<(?! )[^<>]*?>/).getRegex(),Ae=/^(?:\*+(?:((?!\*)punct)|([^\s*]))?)|^_+(?:((?!_)punct)|([^\s_]))?/,
ht=g(Ae,"u").replace(/punct/g,T).getRegex(),pt=g(Ae,"u").replace(/punct/g,Re).getRegex(),ut=/^(?:\*+(?:((?!\*)(?!openQuote)punct)|([^\s*]))?)|^_+(?:((?!_)(?!openQuote)punct)|([^\s_]))?/,
gt=g(ut,"u").replace(/openQuote/g,lt).replace(/punct/g,T).getRegex(),Te="^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)|[^*]+(?=[^*])|(?!\\*)punct(\\*+)(?=[\\s]|$)|notPunctSpace\
(\\*+)(?!\\*)(?=punctSpace|$)|(?!\\*)punctSpace(\\*+)(?=notPunctSpace)|[\\s](\\*+)(?!\\*)(?=punct)|(?!\\*)punct(\\*+)(?!\\*)(?=punct)|notPunctSpace(\\*+)(?=notPunctSpace)",
kt=g(Te,"gu").replace(/notPunctSpace/g,X).replace(/punctSpace/g,M).replace(/punct/g,T).getRegex(),dt=g(Te,"gu").replace(/notPunctSpace/g,ot).replace(/punctSpace/g,
at).replace(/punct/g,Re).getRegex(),ft="^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)|[^*]+(?=[^*])|(?!\\*)punct(\\*+)(?=[\\s]|$)|notPunctSpace(\\*+)(?!\\*)(?=punctSpace|$)|(?!\\*\
)[\\s](\\*+)(?=notPunctSpace)|[\\s](\\*+)(?!\\*)(?=punct)|(?!\\*)punct(\\*+)(?!\\*)(?=punct)|(?:(?!\\*)punct|notPunctSpace)(\\*+)(?!\\*)(?=notPunctSpace)",xt=g(
ft,"gu").replace(/notPunctSpace/g,X).replace(/punctSpace/g,M).replace(/punct/g,T).getRegex(),bt=g("^[^_*]*?\\*\\*[^_*]*?_[^_*]*?(?=\\*\\*)|[^_]+(?=[^_])|(?!_)punct(\
_+)(?=[\\s]|$)|notPunctSpace(_+)(?!_)(?=punctSpace|$)|(?!_)punctSpace(_+)(?=notPunctSpace)|[\\s](_+)(?!_)(?=punct)|(?!_)punct(_+)(?!_)(?=punct)","gu").replace(/notPunctSpace/g,
X).replace(/punctSpace/g,M).replace(/punct/g,T).getRegex(),mt="^[^_*]*?\\*\\*[^_*]*?_[^_*]*?(?=\\*\\*)|[^_]+(?=[^_])|(?!_)punct(_+)(?=[\\s]|$)|notPunctSpace(_+)(?!_)\
(?=punctSpace|$)|(?!_)[\\s](_+)(?=notPunctSpace)|[\\s](_+)(?!_)(?=punct)|(?!_)punct(_+)(?!_)(?=punct)|(?:(?!_)punct|notPunctSpace)(_+)(?!_)(?=notPunctSpace)",wt=g(
mt,"gu").replace(/notPunctSpace/g,X).replace(/punctSpace/g,M).replace(/punct/g,T).getRegex(),St=g(/^~~?(?:((?!~)punct)|[^\s~])/,"u").replace(/punct/g,T).getRegex(),
$t="^[^~]+(?=[^~])|(?!~)punct(~~?)(?=[\\s]|$)|notPunctSpace(~~?)(?!~)(?=punctSpace|$)|(?!~)punctSpace(~~?)(?=notPunctSpace)|[\\s](~~?)(?!~)(?=punct)|(?!~)punct(~~\
?)(?!~)(?=punct)|notPunctSpace(~~?)(?=notPunctSpace)",yt=g($t,"gu").replace(/notPunctSpace/g,X).replace(/punctSpace/g,M).replace(/punct/g,T).getRegex(),Rt=g(/\\(punct)/,
"gu").replace(/punct/g,T).getRegex(),At=g(/(`+)(?:[^`]|[^`][\s\S]*?[^`])\1(?!`)|`+|\\(punct)/,"gu").replace(/punct/g,T).getRegex(),Tt=g(/^<(scheme:[^\s\x00-\x1f<>]*|email)>/).
replace("scheme",/[a-zA-Z][a-zA-Z0-9+.-]{1,31}/).replace("email",/[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+(@)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+(?![-_])/).
getRegex(),zt=g(ce).replace("(?:-->|$)","-->").getRegex(),_t=g("^comment|^</[a-zA-Z][a-zA-Z0-9-]*\\s*>|^<[a-zA-Z][a-zA-Z0-9-]*(?:attribute)*?\\s*/?>|^<\\?[\\s\\S]*?\\\
?>|^<![a-zA-Z]+\\s[\\s\\S]*?>|^<!\\[CDATA\\[[\\s\\S]*?\\]\\]>").replace("comment",zt).replace("attribute",/\s+[a-zA-Z:_][\w.:-]*(?:\s*=\s*"[^"]*"|\s*=\s*'[^']*'|\s*=\s*[^\s"'=<>`]+)?/).
getRegex(),ze=/\[(?:\\[\s\S]|[^\[\]\\])*\]/,Y=g(/(?:\[(?:brackets|\\[\s\S]|[^\[\]\\])*\]|\\[\s\S]|`+(?!`)[^`]*?`+(?!`)|``+(?=\])|[^\[\]\\`])*?/).replace("bracke\
ts",ze).getRegex(),Pt=g(/^!?\[(label)\]\([ \t\n]*(href)(?:(?:[ \t]+(?:\n[ \t]*)?|\n[ \t]*)(title))?[ \t\n]*\)/).replace("label",Y).replace("href",/<(?:\\.|[^\n<>\\])*>|(?!<)[^ \t\n\x00-\x1f]+|(?=\))/).
replace("title",/"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\((?:\\[\s\S]|[^)\\])*\)/).getRegex(),Ct=g(/^!?\[(label)\]\[(ref)\]/).replace("label",Y).replace(
"ref",oe).getRegex(),It=g(/^!?\[(ref)\](?:\[\])?/).replace("ref",oe).getRegex(),_e=/(?!\s*\])(?:\\[\s\S]|[^\[\]\\]){1,999}/,Et=g(/(?:[^\[\]\\`]*(?:\[(?:brackets|\\[\s\S]|[^\[\]\\])*\]|\\[\s\S]|`+(?!`)[^`]*?`+(?!`)|``+(?=\]))){0,999}?[^\[\]\\`]*?/).
replace("brackets",ze).getRegex(),Lt=g("reflink|nolink(?!\\()","g").replace("reflink",g(/^!?\[(label)\]\[(ref)\]/).replace("label",Et).replace("ref",_e).getRegex()).
replace("nolink",g(/^!?\[(ref)\](?:\[\])?/).replace("ref",_e).getRegex()).getRegex(),Pe=/[hH][tT][tT][pP][sS]?|[fF][tT][pP]/,Bt=/[A-Za-z0-9._+-]+@[a-zA-Z0-9-_]+(?:\.[a-zA-Z0-9-_]*[a-zA-Z0-9])+(?![\w-])/,
qt=g(/(?:mailto:email|xmpp:email(?:\/[A-Za-z0-9@.]+)?)/).replace(/email/g,Bt).getRegex(),pe={_backpedal:L,anyPunctuation:Rt,anyPunctuationOutsideCode:At,autolink:Tt,
blockSkip:ct,br:ye,code:nt,del:L,delLDelim:L,delRDelim:L,emStrongLDelim:ht,emStrongRDelimAst:kt,emStrongRDelimUnd:bt,escape:rt,link:Pt,nolink:It,punctuation:it,
reflink:Ct,reflinkSearch:Lt,tag:_t,text:st,url:L},vt={...pe,emStrongLDelim:gt,emStrongRDelimAst:xt,emStrongRDelimUnd:wt,link:g(/^!?\[(label)\]\((.*?)\)/).replace(
"label",Y).getRegex(),reflink:g(/^!?\[(label)\]\s*\[([^\]]*)\]/).replace("label",Y).getRegex()},ue={...pe,emStrongRDelimAst:dt,emStrongLDelim:pt,delLDelim:St,delRDelim:yt,
url:g(/^emailProtocol|^((?:protocol):\/\/|www\.)(?:[a-zA-Z0-9\-]+\.?)+[^\s<]*|^email/).replace("emailProtocol",qt).replace("protocol",Pe).replace("email",/[A-Za-z0-9._+-]+(@)[a-zA-Z0-9-_]+(?:\.[a-zA-Z0-9-_]*[a-zA-Z0-9])+(?![\w-])/).
getRegex(),_backpedal:/(?:[^?!.,:;*_'"~()&]+|\([^)]*\)|&(?![a-zA-Z0-9]+;$)|[?!.,:;*_'"~)]+(?!$))+/,del:/^(~~?)(?=[^\s~])((?:\\[\s\S]|[^\\])*?(?:\\[\s\S]|[^\s~\\]))\1(?=[^~]|$)/,
text:g(/^(?:[^a-zA-Z0-9](?=emailProtocol)|(`+|~+|[^`~])(?:(?=[`~])|(?= {2,}\n)|(?=[a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-]+@)|[\s\S]*?(?:(?=[\\<!\[`*~_]|\b_|protocol:\/\/|wwwStart|$)|[^ ](?= {2,}\n)|[^a-zA-Z0-9](?=emailProtocol)|[^a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-](?=[a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-]+@))))/).
replace("protocol",Pe).replace(/emailProtocol/g,/(?:mailto|xmpp):/).replace("wwwStart",be?"(?<![^\\s*_~(])www\\.":"www\\.").getRegex()},Zt={...ue,br:g(ye).replace(
"{2,}","*").getRegex(),text:g(ue.text).replace("\\b_","\\b_| {2,}\\n").replace(/\{2,\}/g,"*").getRegex()},ee={normal:he,gfm:et,pedantic:tt},G={normal:pe,gfm:ue,
breaks:Zt,pedantic:vt},Dt={"&":"&amp;","<":"&lt;",">":"&gt;",'"':"&quot;","'":"&#39;"},Ce=r=>Dt[r];function $2(r,e){if(e){if(S2.escapeTest.test(r))return r.replace(
S2.escapeReplace,Ce)}else if(S2.escapeTestNoEncode.test(r))return r.replace(S2.escapeReplaceNoEncode,Ce);return r}function Mt(r){return S2.numericCharacterReference.
test(r)?r.replace(S2.numericCharacterReferenceOrAmpersand,(e,t,n)=>{if(t===void 0&&n===void 0)return"&amp;";let s=t===void 0?Number.parseInt(n,16):Number.parseInt(
t,10);return s===0||s>1114111||s>=55296&&s<=57343?"�":s===38?"&amp;":String.fromCodePoint(s)}):r}function Ie(r){try{r=encodeURI(r).replace(S2.percentDecode,"%")}catch{
return null}return r}function Ee(r,e){let t=r.replace(S2.findPipe,(l,i2,a)=>{let o=!1,p=i2;for(;--p>=0&&a[p]==="\\";)o=!o;return o?"|":" |"}),n=t.split(S2.splitPipe),
s=0;if(n[0].trim()||n.shift(),n.length>0&&!n.at(-1)?.trim()&&n.pop(),e)if(n.length>e)n.splice(e);else for(;n.length<e;)n.push("");for(;s<n.length;s++)n[s]=n[s].
trim().replace(S2.slashPipe,"|");return n}function _(r,e,t){let n=r.length;if(n===0)return"";let s=0;for(;s<n;){let l=r.charAt(n-s-1);if(l===e&&!t)s++;else if(l!==
e&&t)s++;else break}return r.slice(0,n-s)}function Le(r){let e=r.split(`
`),t=e.length-1;for(;t>=0&&S2.blankLine.test(e[t]);)t--;return e.length-t<=2?r:e.slice(0,t+1).join(`
`)}function te(r){return r.trim().replace(S2.multipleSpaceGlobal," ").toLowerCase().toUpperCase().toLowerCase()}function Be(r,e){if(r.indexOf(e[0])===-1&&r.indexOf(
e[1])===-1)return-1;let t=0;for(let n=0;n<r.length;n++)if(r[n]==="\\")n++;else if(r[n]===e[0])t++;else if(r[n]===e[1]&&(t--,t<0))return n;return t>0?-2:-1}var O=new WeakMap;
function ge(r){let e={"*":-1,_:-1},t=-1,n=r.length;for(let s=0;s<n;s++){let l=r[s];if(l!=="*"&&l!=="_"&&l!=="~")continue;let i2=s===0?`
`:r[s-1],a=s+1;for(;a<n&&r[a]===l;)a++;i2!==" "&&i2!=="	"&&i2!==`
`&&i2!=="\r"&&i2!=="\f"&&(l==="~"?t=s:e[l]=s),s=a-1}return{maskedSrc:r,lastPossibleEmStrongCloserIndex:e,lastPossibleDelCloserIndex:t}}function Ot(r,e){let t=ge(
e),n=O.get(r);n?n.push(t):O.set(r,[t])}function jt(r){let e=O.get(r);e&&(e.pop(),e.length===0&&O.delete(r))}function qe(r,e,t){let n=O.get(r)?.at(-1);return n&&
n.maskedSrc===e?n.lastPossibleEmStrongCloserIndex[t]:ge(e).lastPossibleEmStrongCloserIndex[t]}function ve(r,e){let t=O.get(r)?.at(-1);return t&&t.maskedSrc===e?
t.lastPossibleDelCloserIndex:ge(e).lastPossibleDelCloserIndex}function re(r,e=0){let t=e,n="";for(let s of r)if(s==="	"){let l=4-t%4;n+=" ".repeat(l),t+=l}else n+=
s,t++;return n}function Qt(r,e){let t="";for(let n=0;n<r.length;n++){if(r[n]==="`"){let s=e.inline.code.exec(r.slice(n));if(s){t+=s[0],n+=s[0].length-1;continue}}
if(r[n]==="\\"&&(r[n+1]==="["||r[n+1]==="]")){t+=r[n+1],n++;continue}t+=r[n]}return t}function Ze(r,e,t,n,s){let l=e.href,i2=e.title||null,a=Qt(r[1],s),o=r[0].charAt(
0)==="!",p=n.state.inLink,c=n.state.linkEmitted,u=n.state.inRawBlock;n.state.inLink=!0,n.state.linkEmitted=!1;let h=n.inlineTokens(a),k=n.state.linkEmitted;if(n.
state.linkEmitted=c,n.state.inLink=p,!o){if(k){n.state.inRawBlock=u;return}n.state.linkEmitted=!0}return{type:o?"image":"link",raw:t,href:l,title:i2,text:a,tokens:h}}
function Ht(r,e,t){let n=r.match(t.other.indentCodeCompensation);if(n===null)return e;let s=n[1];return e.split(`
`).map(l=>{let i2=l.match(t.other.beginningSpace);if(i2===null)return l;let[a]=i2;return l.slice(Math.min(a.length,s.length))}).join(`
`)}function De(r,e,t,n){if(!e.includes("<"))return!1;for(let s=0;s<e.length;s++){if(e[s]==="\\"){s++;continue}if(e[s]==="`"){let a=n.inline.code.exec(e.slice(s));
if(a){s+=a[0].length-1;continue}}if(e[s]!=="<")continue;let l=r.slice(t+s),i2=n.inline.tag.exec(l)||n.inline.autolink.exec(l);if(i2){if(i2[0].length>e.length-s)
return!0;s+=i2[0].length-1}}return!1}var C=class{options;rules;lexer;constructor(r){this.options=r||P}space(r){let e=this.rules.block.newline.exec(r);if(e&&e[0].
length>0)return{type:"space",raw:e[0]}}code(r){let e=this.rules.block.code.exec(r);if(e){let t=this.options.pedantic?e[0]:Le(e[0]),n=t.replace(this.rules.other.
codeRemoveIndent,"");return{type:"code",raw:t,codeBlockStyle:"indented",text:n}}}fences(r){let e=this.rules.block.fences.exec(r);if(e){let t=e[0],n=Ht(t,e[3]||"",
this.rules);return e[3]!==void 0&&(n===""||n.endsWith(`
`))&&(n+=`
`),{type:"code",raw:t,lang:e[2]?e[2].trim().replace(this.rules.inline.anyPunctuation,"$1"):e[2],text:n}}}heading(r){let e=this.rules.block.heading.exec(r);if(e){
let t=e[2].trim();if(this.rules.other.endingHash.test(t)){let n=_(t,"#");(this.options.pedantic||!n||this.rules.other.endingSpaceTabChar.test(n))&&(t=n.trim())}
return{type:"heading",raw:_(e[0],`
`),depth:e[1].length,text:t,tokens:this.lexer.inline(t)}}}hr(r){let e=this.rules.block.hr.exec(r);if(e)return{type:"hr",raw:_(e[0],`
`)}}blockquote(r){let e=this.rules.block.blockquote.exec(r);if(e){let t=_(e[0],`
`).split(`
`),n="",s="",l=[];for(;t.length>0;){let i2=!1,a=[],o;for(o=0;o<t.length;o++)if(this.rules.other.blockquoteStart.test(t[o]))a.push(t[o]),i2=!0;else if(!i2)a.push(
t[o]);else break;t=t.slice(o);let p=a.join(`
`),c=p.replace(this.rules.other.blockquoteMarkerWhitespace,(k,f,w2)=>w2.startsWith(" ")?f+" "+w2.slice(1):f+re(w2,f.length)).replace(this.rules.other.blockquoteSetextReplace,
`
    $1`).replace(this.rules.other.blockquoteSetextReplace2,"");n=n?`${n}
${p}`:p,s=s?`${s}
${c}`:c;let u=this.lexer.state.top;if(this.lexer.state.top=!0,this.lexer.blockTokens(c,l,!0),this.lexer.state.top=u,t.length===0)break;let h=l.at(-1);if(h?.type===
"code"||h?.type==="heading"||h?.type==="hr"||h?.type==="html"||h?.type==="table")break;if(h?.type==="blockquote"){let k=h,f=t.join(`
`),w2=k.raw+`
`+f.replace(this.rules.other.blockquoteSetextReplace2,""),d=this.blockquote(w2);l[l.length-1]=d;let b2=w2.substring(d.raw.length).replace(/^\n/,""),z=b2?b2.split(
`
`).length:0,m=z?t.slice(0,-z):t;if(m.length>0&&(n=`${n}
${m.join(`
`)}`),s=s.substring(0,s.length-k.text.length)+d.text,t=t.slice(m.length),t.length>0&&this.rules.other.blockquoteStart.test(t[0]))continue;break}else if(h?.type===
"list"){let k=h,f=k.raw+`
`+t.join(`
`),w2=this.list(f);l[l.length-1]=w2;let d=w2.raw.length>k.raw.length?f.slice(k.raw.length+1,w2.raw.length).split(`
`).length:0;if(d>0){let b2=t.slice(0,d).join(`
`);n=`${n}
${b2}`,s=`${s}
${b2}`}if(t=t.slice(d),t.length>0&&!this.rules.other.blockquoteStart.test(t[0]))break;continue}}return{type:"blockquote",raw:n,tokens:l,text:s}}}list(r){let e=this.
rules.block.list.exec(r);if(e){if(!this.options.pedantic&&this.lexer.state.lastToken?.type==="text"&&!this.rules.other.listInterruptsParagraph.test(r))return;let t=r,
n=()=>t.length-r.length,s=e[1].trim(),l=s.length>1,i2={type:"list",raw:"",ordered:l,start:l?+s.slice(0,-1):"",loose:!1,items:[]};s=l?`\\d{1,9}\\${s.slice(-1)}`:
`\\${s}`,this.options.pedantic&&(s=l?s:"[*+-]");let a=this.rules.other.listItemRegex(s),o=!1;for(;r;){let u=!1,h="";if(!(e=a.exec(r))||this.rules.block.hr.test(
r))break;let k=n();r=r.substring(e[0].length);let f=e[2].split(`
`,1)[0],w2=e[1].length,d=this.options.pedantic?re(f,w2):f.replace(this.rules.other.leadingSpaceTab,v=>re(v,w2)),b2=r.split(`
`,1)[0],z=!d.trim(),m=0;if(this.options.pedantic?(m=2,h=d.trimStart()):z?m=w2+1:(m=d.search(this.rules.other.nonSpaceChar),m=m>4?1:m,h=d.slice(m),m+=w2),z&&this.
rules.other.blankLine.test(b2)&&(r=r.substring(b2.length+1),u=!0),!u){let v=this.rules.other.nextBulletRegex(m),H=this.rules.other.hrRegex(m),K=this.rules.other.
fencesBeginRegex(m),E=this.options.pedantic?this.rules.other.pedanticHeadingBeginRegex(m):this.rules.other.headingBeginRegex(m),N=this.rules.other.htmlBeginRegex(
m),J=this.rules.other.blockquoteBeginRegex(m),se=!1;for(;r;){let fe=r.split(`
`,1)[0],Z;if(b2=fe,this.options.pedantic?(b2=b2.replace(this.rules.other.listReplaceNesting,"  "),Z=b2):Z=b2.replace(this.rules.other.leadingSpaceTab,y=>re(y)),
K.test(b2)||E.test(b2)||N.test(b2)||J.test(b2)||v.test(b2)||H.test(b2))break;if(Z.search(this.rules.other.nonSpaceChar)>=m||!b2.trim())h+=`
`+Z.slice(m),se=!1;else{if(z)break;let y=d;if(!this.options.pedantic&&!h.includes(`
`)&&!d.includes("	")){let D2;for(;!H.test(y)&&(D2=this.rules.other.nestedBlockMarker.exec(y));)y=y.slice(D2[0].length);if(!y.trim())break}if(y.replace(this.rules.
other.tabCharGlobal,"    ").search(this.rules.other.nonSpaceChar)>=4||K.test(y)||E.test(y)||N.test(y)||H.test(y))break;if(!this.options.pedantic&&!se){let D2=d.
replace(this.rules.other.nestedContainerMarkers,"");if(this.rules.block.fences.test(D2)||this.rules.block.heading.test(D2)||this.rules.block.hr.test(D2))break}let je=!this.
options.pedantic&&/^ {0,3}(?:=+|-+) *$/.test(b2)&&this.rules.block.lheading.test(`${d}
${b2}`)?`    ${Z.replace(/^ {0,3}/,"")}`:b2;h+=`
`+je,se=!0}z=!b2.trim(),r=r.substring(fe.length+1),d=Z.slice(m)}}let Q=t.slice(k,n());i2.loose||(o?i2.loose=!0:this.rules.other.doubleBlankLine.test(Q)&&(o=!0)),
i2.items.push({type:"list_item",raw:Q,task:!!this.options.gfm&&this.rules.other.listIsTask.test(h),loose:!1,text:h,tokens:[]})}let p=i2.items.at(-1);if(p)p.raw=
p.raw.trimEnd(),p.text=p.text.trimEnd();else return;i2.raw=t.slice(0,n()).trimEnd();let c=[];for(let u of i2.items)if(this.lexer.state.top=!1,c.push(this.lexer.
inlineQueue.length),u.tokens=this.lexer.blockTokens(u.text,[]),!i2.loose){let h=u.tokens.filter(f=>f.type==="space"),k=h.length>0&&h.some(f=>this.rules.other.anyLine.
test(f.raw));i2.loose=k}for(let u=0;u<i2.items.length;u++){let h=i2.items[u],k=h.tokens[0];if(h.task&&(k?.type==="text"||k?.type==="paragraph")){h.text=h.text.replace(
this.rules.other.listReplaceTask,""),k.raw=k.raw.replace(this.rules.other.listReplaceTask,""),k.text=k.text.replace(this.rules.other.listReplaceTask,"");let f=this.
lexer.inlineQueue;for(let d=c[u];d<f.length;d++)if(f[d].tokens===k.tokens){f[d].src=f[d].src.replace(this.rules.other.listReplaceTask,"");break}let w2=this.rules.
other.listTaskCheckbox.exec(h.raw);if(w2){let d={type:"checkbox",raw:w2[0]+" ",checked:w2[0]!=="[ ]"};h.checked=d.checked,i2.loose?h.tokens[0]&&["paragraph","te\
xt"].includes(h.tokens[0].type)&&"tokens"in h.tokens[0]&&h.tokens[0].tokens?(h.tokens[0].raw=d.raw+h.tokens[0].raw,h.tokens[0].text=d.raw+h.tokens[0].text,h.tokens[0].
tokens.unshift(d)):h.tokens.unshift({type:"paragraph",raw:d.raw,text:d.raw,tokens:[d]}):h.tokens.unshift(d)}}else h.task&&(h.task=!1)}if(i2.loose)for(let u of i2.
items){u.loose=!0;for(let h of u.tokens)h.type==="text"&&(h.type="paragraph")}return i2}}html(r){let e=this.rules.block.html.exec(r);if(e){if(this.lexer.state.lastToken?.
type==="paragraph"&&!this.rules.other.htmlBeginRegex(4).test(r))return;let t=Le(e[0]);return{type:"html",block:!0,raw:t,pre:e[1]==="pre"||e[1]==="script"||e[1]===
"style",text:t}}}def(r){let e=this.rules.block.def.exec(r);if(e){if(!this.rules.other.startAngleBracket.test(e[2])&&Be(e[2],"()")!==-1)return;let t=te(e[1]),n=e[2]?
e[2].replace(this.rules.other.hrefBrackets,"$1").replace(this.rules.inline.anyPunctuation,"$1"):"",s=e[3]?e[3].substring(1,e[3].length-1).replace(this.rules.inline.
anyPunctuation,"$1"):e[3];return{type:"def",tag:t,raw:_(e[0],`
`),href:n,title:s}}}table(r){let e=this.rules.block.table.exec(r);if(!e||!this.rules.other.tableDelimiter.test(e[2]))return;let t=Ee(e[1]),n=e[2].replace(this.rules.
other.tableAlignChars,"").split("|"),s=e[3]?.trim()?e[3].replace(this.rules.other.tableRowBlankLine,"").split(`
`):[],l={type:"table",raw:_(e[0],`
`),header:[],align:[],rows:[]};if(t.length===n.length){for(let i2 of n)this.rules.other.tableAlignRight.test(i2)?l.align.push("right"):this.rules.other.tableAlignCenter.
test(i2)?l.align.push("center"):this.rules.other.tableAlignLeft.test(i2)?l.align.push("left"):l.align.push(null);for(let i2=0;i2<t.length;i2++)l.header.push({text:t[i2],
tokens:this.lexer.inline(t[i2]),header:!0,align:l.align[i2]});for(let i2 of s)l.rows.push(Ee(i2,l.header.length).map((a,o)=>({text:a,tokens:this.lexer.inline(a),
header:!1,align:l.align[o]})));return l}}lheading(r){let e=this.rules.block.lheading.exec(r);if(e){let t=e[1].trim();return{type:"heading",raw:_(e[0],`
`),depth:e[2].charAt(0)==="="?1:2,text:t,tokens:this.lexer.inline(t)}}}paragraph(r){let e=this.rules.block.paragraph.exec(r);if(e){let t=e[1].charAt(e[1].length-
1)===`
`?e[1].slice(0,-1):e[1];return{type:"paragraph",raw:e[0],text:t,tokens:this.lexer.inline(t)}}}text(r){let e=this.rules.block.text.exec(r);if(e)return{type:"text",
raw:e[0],text:e[0],tokens:this.lexer.inline(e[0])}}escape(r){if(r.charCodeAt(0)!==92)return;let e=this.rules.inline.escape.exec(r);if(e)return{type:"escape",raw:e[0],
text:e[1]}}tag(r){if(r.charCodeAt(0)!==60)return;let e=this.rules.inline.tag.exec(r);if(e)return!this.lexer.state.inLink&&this.rules.other.startATag.test(e[0])?
this.lexer.state.inLink=!0:this.lexer.state.inLink&&this.rules.other.endATag.test(e[0])&&(this.lexer.state.inLink=!1),!this.lexer.state.inRawBlock&&this.rules.other.
startPreScriptTag.test(e[0])?this.lexer.state.inRawBlock=!0:this.lexer.state.inRawBlock&&this.rules.other.endPreScriptTag.test(e[0])&&(this.lexer.state.inRawBlock=
!1),{type:"html",raw:e[0],inLink:this.lexer.state.inLink,inRawBlock:this.lexer.state.inRawBlock,block:!1,text:e[0]}}link(r){if(this.lexer.state.linkParenPossible===
!1)return;let e=r.charCodeAt(0);if(e!==91&&e!==33)return;let t=this.rules.inline.link.exec(r);if(t){let n=t[0].charAt(0)==="!"?2:1;if(!this.options.pedantic&&De(
r,t[1],n,this.rules))return;let s=t[2].trim();if(!this.options.pedantic&&this.rules.other.startAngleBracket.test(s)){if(!this.rules.other.endAngleBracket.test(s))
return;let o=_(s.slice(0,-1),"\\");if((s.length-o.length)%2===0)return}else{let o=Be(t[2],"()");if(o===-2)return;if(o>-1){let p=(t[0].indexOf("!")===0?5:4)+t[1].
length+o;t[2]=t[2].substring(0,o),t[0]=t[0].substring(0,p).trim(),t[3]=""}}let l=_(t[0].slice(0,-1),"\\");if((t[0].length-l.length)%2===0)return;let i2=t[2],a="";
if(this.options.pedantic){let o=this.rules.other.pedanticHrefTitle.exec(i2);o&&(i2=o[1],a=o[3])}else a=t[3]?t[3].slice(1,-1):"";return i2=i2.trim(),this.rules.other.
startAngleBracket.test(i2)&&(this.options.pedantic&&!this.rules.other.endAngleBracket.test(s)?i2=i2.slice(1):i2=i2.slice(1,-1)),Ze(t,{href:i2&&i2.replace(this.rules.
inline.anyPunctuation,"$1"),title:a&&a.replace(this.rules.inline.anyPunctuation,"$1")},t[0],this.lexer,this.rules)}}reflink(r,e){let t=r.charCodeAt(0);if(t!==91&&
t!==33)return;let n;if((n=this.rules.inline.reflink.exec(r))||(n=this.rules.inline.nolink.exec(r))){let s=n[0].charAt(0)==="!"?2:1;if(!this.options.pedantic&&De(
r,n[1],s,this.rules))return;let l=e[te(n[2]||n[1])];if(!l){let i2=n[0].charAt(0);return{type:"text",raw:i2,text:i2}}return Ze(n,l,n[0],this.lexer,this.rules)}}emStrong(r,e,t=""){
let n=this.rules.inline.emStrongLDelim.exec(r);if(!n||!n[1]&&!n[2]&&!n[3]&&!n[4])return;let s=n[0][0],l=t===s,i2=e.length-r.length,a=i2;for(;!this.options.pedantic&&
a>0&&e[a-1]===s;)a--;let o=[...e.slice(Math.max(0,a-2),a)].at(-1)??"",p=o==="*"||o==="_"||!!this.rules.inline.punctuation.exec(o);a<i2&&(t=o);let c=a<i2?p:t==="\
*"||t==="_"||!!this.rules.inline.punctuation.exec(t);if(n[4]&&t.match(this.rules.other.unicodeAlphaNumeric))return;let u=n[1]||n[3]||"";if(!u||!t||c){let h=[...n[0]].
length-1,k,f,w2=h,d=0,b2=i2-a+h,z=!this.options.pedantic&&!!o.trim()&&(!!u||s==="*"&&!p);if(s!=="*"&&s!=="_")return;let m=s==="*"?this.rules.inline.emStrongRDelimAst:
this.rules.inline.emStrongRDelimUnd,Q=qe(this,e,s),v=e.length-r.length+h;if(Q<v)return;e=e.slice(-1*r.length+h);let H=Q-v;for(m.lastIndex=0;(n=m.exec(e))!==null&&
!(n.index>H);){if(k=n[1]||n[2]||n[3]||n[4]||n[5]||n[6],!k)continue;if(f=[...k].length,n[3]||n[4]){w2+=f;continue}else if((n[5]||n[6]||z)&&b2%3&&!((b2+f)%3)){if(l&&
(n[5]||n[6]))break;d+=f;continue}if(w2-=f,w2>0)continue;f=Math.min(f,f+w2+d);let K=[...n[0]][0].length,E=r.slice(0,h+n.index+K+f);if(Math.min(h,f)%2){let J=E.slice(
1,-1);return{type:"em",raw:E,text:J,tokens:this.lexer.inlineTokens(J)}}let N=E.slice(2,-2);return{type:"strong",raw:E,text:N,tokens:this.lexer.inlineTokens(N)}}}}codespan(r){
if(r.charCodeAt(0)!==96)return;let e=this.rules.inline.code.exec(r);if(e){let t=e[2].replace(this.rules.other.newLineCharGlobal," "),n=this.rules.other.nonSpaceChar.
test(t),s=this.rules.other.startingSpaceChar.test(t)&&this.rules.other.endingSpaceChar.test(t);return n&&s&&(t=t.substring(1,t.length-1)),{type:"codespan",raw:e[0],
text:t}}}br(r){let e=r.charCodeAt(0);if(e!==32&&e!==92&&e!==10)return;let t=this.rules.inline.br.exec(r);if(t)return{type:"br",raw:t[0]}}del(r,e,t=""){if(r.charCodeAt(
0)!==126)return;let n=this.rules.inline.delLDelim.exec(r);if(n&&(!n[1]||!t||this.rules.inline.punctuation.exec(t))){let s=[...n[0]].length-1,l,i2,a=s,o=this.rules.
inline.delRDelim,p=ve(this,e),c=e.length-r.length+s;if(p<c)return;e=e.slice(-1*r.length+s);let u=p-c;for(o.lastIndex=0;(n=o.exec(e))!==null&&!(n.index>u);){if(l=
n[1]||n[2]||n[3]||n[4]||n[5]||n[6],!l||(i2=[...l].length,i2!==s))continue;if(n[3]||n[4]){a+=i2;continue}if(a-=i2,a>0)continue;i2=Math.min(i2,i2+a);let h=[...n[0]][0].
length,k=r.slice(0,s+n.index+h+i2),f=k.slice(s,-s);return{type:"del",raw:k,text:f,tokens:this.lexer.inlineTokens(f)}}}}autolink(r){if(r.charCodeAt(0)!==60)return;
let e=this.rules.inline.autolink.exec(r);if(e){let t,n;return e[2]==="@"?(t=e[1],n="mailto:"+t):(t=e[1],n=t),{type:"link",raw:e[0],text:t,href:n,autolink:!0,tokens:[
{type:"text",raw:t,text:t}]}}}url(r){let e;if(e=this.rules.inline.url.exec(r)){let t,n;if(e[2]==="@")t=e[0],n="mailto:"+t;else{let s;do s=e[0],e[0]=this.rules.inline.
_backpedal.exec(e[0])?.[0]??"";while(s!==e[0]);t=e[0],e[1]==="www."?n="http://"+e[0]:n=e[0]}return{type:"link",raw:e[0],text:t,href:n,autolink:!0,tokens:[{type:"\
text",raw:t,text:t}]}}}inlineText(r){let e=this.rules.inline.text.exec(r);if(e){let t=this.lexer.state.inRawBlock;return{type:"text",raw:e[0],text:t?e[0]:Mt(e[0]),
escaped:t}}}},R=class ke{tokens;options;state;inlineQueue;tokenizer;constructor(e){this.tokens=[],this.tokens.links=Object.create(null),this.options=e||P,this.options.
tokenizer=this.options.tokenizer||new C,this.tokenizer=this.options.tokenizer,this.tokenizer.options=this.options,this.tokenizer.lexer=this,this.inlineQueue=[],
this.state={inLink:!1,inRawBlock:!1,linkEmitted:!1,linkParenPossible:!0,top:!0};let t={other:S2,block:ee.normal,inline:G.normal};this.options.pedantic?(t.block=
ee.pedantic,t.inline=G.pedantic):this.options.gfm&&(t.block=ee.gfm,this.options.breaks?t.inline=G.breaks:t.inline=G.gfm),this.tokenizer.rules=t}static get rules(){
return{block:ee,inline:G}}static lex(e,t){return new ke(t).lex(e)}static lexInline(e,t){return new ke(t).inlineTokens(e)}lex(e){e=e.replace(S2.carriageReturn,`
`),this.blockTokens(e,this.tokens);for(let t=0;t<this.inlineQueue.length;t++){let n=this.inlineQueue[t];this.state.inRawBlock=!1,this.inlineTokens(n.src,n.tokens)}
return this.inlineQueue=[],this.tokens}blockTokens(e,t=[],n=!1){this.tokenizer.lexer=this;let s=this.state.lastToken;this.options.pedantic&&(e=e.replace(S2.tabCharGlobal,
"    ").replace(S2.spaceLine,""));let l=1/0,i2,a=this.options.gfm&&!this.options.pedantic&&this.tokenizer.paragraph===C.prototype.paragraph;for(;e;){if(e.length<
l)l=e.length;else{this.infiniteLoopError(e.charCodeAt(0));break}this.state.lastToken=t.at(-1);let o;if(this.options.extensions?.block?.some(c=>(o=c.call({lexer:this},
e,t))?(e=e.substring(o.raw.length),t.push(o),!0):!1))continue;if(o=this.tokenizer.space(e)){e=e.substring(o.raw.length);let c=t.at(-1);o.raw.length===1&&c!==void 0?
c.raw+=`
`:t.push(o);continue}if(o=this.tokenizer.code(e)){e=e.substring(o.raw.length);let c=t.at(-1);c?.type==="paragraph"||c?.type==="text"?(c.raw+=(c.raw.endsWith(`
`)?"":`
`)+o.raw,c.text+=`
`+o.text,this.inlineQueue.at(-1).src=c.text):t.push(o);continue}if(o=this.tokenizer.fences(e)){e=e.substring(o.raw.length),t.push(o);continue}if(o=this.tokenizer.
heading(e)){e=e.substring(o.raw.length),t.push(o);continue}if(o=this.tokenizer.hr(e)){e=e.substring(o.raw.length),t.push(o);continue}if(o=this.tokenizer.blockquote(
e)){e=e.substring(o.raw.length),t.push(o);continue}if(o=this.tokenizer.list(e)){e=e.substring(o.raw.length),t.push(o);continue}if(o=this.tokenizer.html(e)){e=e.
substring(o.raw.length),t.push(o);continue}if(o=this.tokenizer.def(e)){e=e.substring(o.raw.length);let c=t.at(-1);c?.type==="paragraph"||c?.type==="text"?(c.raw+=
(c.raw.endsWith(`
`)?"":`
`)+o.raw,c.text+=`
`+o.raw,this.inlineQueue.at(-1).src=c.text):(this.tokens.links[o.tag]||(this.tokens.links[o.tag]={href:o.href,title:o.title}),t.push(o));continue}if(o=this.tokenizer.
table(e)){e=e.substring(o.raw.length),t.push(o);continue}if(o=this.tokenizer.lheading(e)){e=e.substring(o.raw.length),t.push(o);continue}let p=e;if(this.options.
extensions?.startBlock){let c=1/0,u=e.slice(1),h;this.options.extensions.startBlock.forEach(k=>{h=k.call({lexer:this},u),typeof h=="number"&&h>=0&&(c=Math.min(c,
h))}),c<1/0&&c>=0&&(p=e.substring(0,c+1))}if(this.state.top&&(o=this.tokenizer.paragraph(p))){let c=t.at(-1);(n||c===i2&&a)&&c?.type==="paragraph"?(c.raw+=(c.raw.
endsWith(`
`)?"":`
`)+o.raw,c.text+=`
`+o.text,this.inlineQueue.pop(),this.inlineQueue.at(-1).src=c.text,i2=c):(t.push(o),i2=o),n=p.length!==e.length,e=e.substring(o.raw.length);continue}if(o=this.tokenizer.
text(e)){e=e.substring(o.raw.length);let c=t.at(-1);c?.type==="text"?(c.raw+=(c.raw.endsWith(`
`)?"":`
`)+o.raw,c.text+=`
`+o.text,this.inlineQueue.pop(),this.inlineQueue.at(-1).src=c.text):t.push(o);continue}if(e){this.infiniteLoopError(e.charCodeAt(0));break}}return this.state.top=
!0,this.state.lastToken=s,t}inline(e,t=[]){return this.inlineQueue.push({src:e,tokens:t}),t}linkInText(e){if(!e.includes("["))return!1;let t=this.tokenizer.rules.
inline.link;for(let n of e.matchAll(this.tokenizer.rules.inline.blockSkip))if(t.test(n[0])&&e.charAt(n.index-1)!=="!")return!0;for(let n of e.matchAll(this.tokenizer.
rules.inline.reflinkSearch)){let s=n[0],l=s.lastIndexOf("[");if(!(s.charAt(0)==="!"||!Object.hasOwn(this.tokens.links,te(s.slice(l+1,-1))))&&!(l>1&&this.linkInText(
s.slice(1,l-1))))return!0}return!1}inlineTokens(e,t=[]){this.tokenizer.lexer=this;let n=this.state.linkParenPossible;this.state.linkParenPossible=e.includes(")");
try{return this.#t(e,t)}finally{this.state.linkParenPossible=n}}#t(e,t){let n=e.includes("*")||e.includes("_")||e.includes("~"),s=n||this.options.hooks?.emStrongMask||
this.tokenizer.emStrong!==C.prototype.emStrong||this.tokenizer.del!==C.prototype.del?this.#n(e):e;if(!n)return this.#e(e,s,t);Ot(this.tokenizer,s);try{return this.#e(
e,s,t)}finally{jt(this.tokenizer)}}#e(e,t,n){let s=!1,l="",i2=1/0;for(;e;){if(e.length<i2)i2=e.length;else{this.infiniteLoopError(e.charCodeAt(0));break}s||(l=""),
s=!1;let a;if(this.options.extensions?.inline?.some(c=>(a=c.call({lexer:this},e,n))?(e=e.substring(a.raw.length),n.push(a),!0):!1))continue;if(a=this.tokenizer.
escape(e)){e=e.substring(a.raw.length),n.push(a);continue}if(a=this.tokenizer.tag(e)){e=e.substring(a.raw.length),n.push(a);continue}if(a=this.tokenizer.link(e)){
e=e.substring(a.raw.length),n.push(a);continue}if(a=this.tokenizer.reflink(e,this.tokens.links)){e=e.substring(a.raw.length);let c=n.at(-1);a.type==="text"&&c?.
type==="text"?(c.raw+=a.raw,c.text+=a.text):n.push(a);continue}let o=e[0];if(o==="*"||o==="_"){let c=t.length-e.length;if(qe(this.tokenizer,t,o)<=c){let u=1;for(;u<
e.length&&e.charCodeAt(u)===o.charCodeAt(0);)u++;let h=e.substring(0,u),k=n.at(-1);k?.type==="text"&&!k.escaped?(k.raw+=h,k.text+=h):n.push({type:"text",raw:h,text:h,
escaped:!1}),e=e.substring(u),l=o,s=!0;continue}}else if(o==="~"){let c=t.length-e.length;if(ve(this.tokenizer,t)<=c){let u=1;for(;u<e.length&&e.charCodeAt(u)===
126;)u++;let h=e.substring(0,u),k=n.at(-1);k?.type==="text"&&!k.escaped?(k.raw+=h,k.text+=h):n.push({type:"text",raw:h,text:h,escaped:!1}),e=e.substring(u),l=o,
s=!0;continue}}if(a=this.tokenizer.emStrong(e,t,l)){e=e.substring(a.raw.length),n.push(a);continue}if(a=this.tokenizer.codespan(e)){e=e.substring(a.raw.length),
n.push(a);continue}if(a=this.tokenizer.br(e)){e=e.substring(a.raw.length),n.push(a);continue}if(a=this.tokenizer.del(e,t,l)){e=e.substring(a.raw.length),n.push(
a);continue}if(a=this.tokenizer.autolink(e)){e=e.substring(a.raw.length),n.push(a);continue}if(!this.state.inLink&&(a=this.tokenizer.url(e))){e=e.substring(a.raw.
length),n.push(a);continue}let p=e;if(this.options.extensions?.startInline){let c=1/0,u=e.slice(1),h;this.options.extensions.startInline.forEach(k=>{h=k.call({lexer:this},
u),typeof h=="number"&&h>=0&&(c=Math.min(c,h))}),c<1/0&&c>=0&&(p=e.substring(0,c+1))}if(a=this.tokenizer.inlineText(p)){e=e.substring(a.raw.length),a.raw.slice(
-1)!=="_"&&(l=a.raw.slice(-1)),s=!0;let c=n.at(-1);c?.type==="text"?(c.raw+=a.raw,c.text+=a.text):n.push(a);continue}if(e){this.infiniteLoopError(e.charCodeAt(0));
break}}return n}#r(e){let{blockSkip:t,tag:n,autolink:s}=this.tokenizer.rules.inline,l="",i2=0,a;for(t.lastIndex=0;a=t.exec(e);){let o=a.index+(a[2]?a[2].length:
0),p=a.index+a[0].length;if(e.charAt(o)==="<"){let c=e.slice(o),u=n.exec(c)||s.exec(c);if(!u){t.lastIndex=o+1;continue}p=o+u[0].length,t.lastIndex=p}l+=e.slice(
i2,o)+"["+"a".repeat(p-o-2)+"]",i2=p}return l+e.slice(i2)}#n(e){let t=e;if(this.tokens.links&&e.includes("[")){let n=this.tokenizer.rules.inline.reflinkSearch,s=l=>{
let i2=l.lastIndexOf("[");if(!Object.hasOwn(this.tokens.links,te(l.slice(i2+1,-1))))return l;if(i2>1&&l.charAt(0)!=="!"){let a=l.slice(1,i2-1);if(this.linkInText(
a))return"["+a.replace(n,s)+"]["+"a".repeat(l.length-i2-2)+"]"}return"["+"a".repeat(l.length-2)+"]"};t=t.replace(n,s)}return t=t.replace(this.tokenizer.rules.inline.
anyPunctuationOutsideCode,(n,s,l)=>l?"+".repeat(n.length):s?s+n.slice(s.length,-s.length).replace(/`/g,"+")+s:n),t=this.#r(t),t=this.options.hooks?.emStrongMask?.
call({lexer:this},t)??t,t}infiniteLoopError(e){let t="Infinite loop on byte: "+e;if(this.options.silent)console.error(t);else throw new Error(t)}},U2=class{options;parser;constructor(r){
this.options=r||P}space(r){return""}code({text:r,lang:e,escaped:t}){let n=(e||"").match(S2.notSpaceStart)?.[0],s=r?r.replace(S2.endingNewline,"")+`
`:"";return n?'<pre><code class="language-'+$2(n)+'">'+(t?s:$2(s,!0))+`</code></pre>
`:"<pre><code>"+(t?s:$2(s,!0))+`</code></pre>
`}blockquote({tokens:r}){return`<blockquote>
${this.parser.parse(r)}</blockquote>
`}html({text:r}){return r}def(r){return""}heading({tokens:r,depth:e}){return`<h${e}>${this.parser.parseInline(r)}</h${e}>
`}hr(r){return`<hr>
`}list(r){let e=r.ordered,t=r.start,n="";for(let i2=0;i2<r.items.length;i2++){let a=r.items[i2];n+=this.listitem(a)}let s=e?"ol":"ul",l=e&&t!==1?' start="'+t+'"':
"";return"<"+s+l+`>
`+n+"</"+s+`>
`}listitem(r){return`<li>${this.parser.parse(r.tokens)}</li>
`}checkbox({checked:r}){return"<input "+(r?'checked="" ':"")+'disabled="" type="checkbox"> '}paragraph({tokens:r}){return`<p>${this.parser.parseInline(r)}</p>
`}table(r){let e="",t="";for(let s=0;s<r.header.length;s++)t+=this.tablecell(r.header[s]);e+=this.tablerow({text:t});let n="";for(let s=0;s<r.rows.length;s++){let l=r.
rows[s];t="";for(let i2=0;i2<l.length;i2++)t+=this.tablecell(l[i2]);n+=this.tablerow({text:t})}return n&&(n=`<tbody>${n}</tbody>`),`<table>
<thead>
`+e+`</thead>
`+n+`</table>
`}tablerow({text:r}){return`<tr>
${r}</tr>
`}tablecell(r){let e=this.parser.parseInline(r.tokens),t=r.header?"th":"td";return(r.align?`<${t} align="${r.align}">`:`<${t}>`)+e+`</${t}>
`}strong({tokens:r}){return`<strong>${this.parser.parseInline(r)}</strong>`}em({tokens:r}){return`<em>${this.parser.parseInline(r)}</em>`}codespan({text:r}){return`\
<code>${$2(r,!0)}</code>`}br(r){return"<br>"}del({tokens:r}){return`<del>${this.parser.parseInline(r)}</del>`}link({href:r,title:e,text:t,tokens:n,autolink:s}){
let l=s?$2(t,!0):this.parser.parseInline(n),i2=Ie(r);if(i2===null)return l;r=$2(i2,s);let a='<a href="'+r+'"';return e&&(a+=' title="'+$2(e)+'"'),a+=">"+l+"</a>",
a}image({href:r,title:e,text:t,tokens:n}){n&&(t=this.parser.parseInline(n,this.parser.textRenderer));let s=Ie(r);if(s===null)return $2(t);r=s;let l=`<img src="${$2(
r)}" alt="${$2(t)}"`;return e&&(l+=` title="${$2(e)}"`),l+=">",l}text(r){return"tokens"in r&&r.tokens?this.parser.parseInline(r.tokens):"escaped"in r&&r.escaped?
r.text:$2(r.text)}},ne=class{parser;strong({text:r,tokens:e}){return e?this.parser.parseInline(e,this):r}em({text:r,tokens:e}){return e?this.parser.parseInline(
e,this):r}codespan({text:r}){return r}del({text:r,tokens:e}){return e?this.parser.parseInline(e,this):r}html({text:r}){return r}text({text:r}){return r}link({text:r,
tokens:e}){return e?this.parser.parseInline(e,this):r}image({text:r,tokens:e}){return e?this.parser.parseInline(e,this):r}br(){return`
`}checkbox({raw:r}){return r}},A=class de{options;renderer;textRenderer;constructor(e){this.options=e||P,this.options.renderer=this.options.renderer||new U2,this.
renderer=this.options.renderer,this.renderer.options=this.options,this.renderer.parser=this,this.textRenderer=new ne,this.textRenderer.parser=this}static parse(e,t){
return new de(t).parse(e)}static parseInline(e,t){return new de(t).parseInline(e)}parse(e){this.renderer.parser=this;let t="";for(let n=0;n<e.length;n++){let s=e[n];
if(this.options.extensions?.renderers?.[s.type]){let i2=s,a=this.options.extensions.renderers[i2.type].call({parser:this},i2);if(a!==!1||!["space","hr","heading",
"code","table","blockquote","list","checkbox","html","def","paragraph","text"].includes(i2.type)){t+=a===!1?"":a??"";continue}}let l=s;switch(l.type){case"space":{
t+=this.renderer.space(l);break}case"hr":{t+=this.renderer.hr(l);break}case"heading":{t+=this.renderer.heading(l);break}case"code":{t+=this.renderer.code(l);break}case"\
table":{t+=this.renderer.table(l);break}case"blockquote":{t+=this.renderer.blockquote(l);break}case"list":{t+=this.renderer.list(l);break}case"checkbox":{t+=this.
renderer.checkbox(l);break}case"html":{t+=this.renderer.html(l);break}case"def":{t+=this.renderer.def(l);break}case"paragraph":{t+=this.renderer.paragraph(l);break}case"\
text":{t+=this.renderer.text(l);break}default:{let i2='Token with "'+l.type+'" type was not found.';if(this.options.silent)return console.error(i2),"";throw new Error(
i2)}}}return t}parseInline(e,t=this.renderer){this.renderer.parser=this;let n="";for(let s=0;s<e.length;s++){let l=e[s];if(this.options.extensions?.renderers?.[l.
type]){let a=this.options.extensions.renderers[l.type].call({parser:this},l);if(a!==!1||!["escape","html","link","image","checkbox","strong","em","codespan","br",
"del","text"].includes(l.type)){n+=a===!1?"":a??"";continue}}let i2=l;switch(i2.type){case"escape":{n+=t.text(i2);break}case"html":{n+=t.html(i2);break}case"lin\
k":{n+=t.link(i2);break}case"image":{n+=t.image(i2);break}case"checkbox":{n+=t.checkbox(i2);break}case"strong":{n+=t.strong(i2);break}case"em":{n+=t.em(i2);break}case"\
codespan":{n+=t.codespan(i2);break}case"br":{n+=t.br(i2);break}case"del":{n+=t.del(i2);break}case"text":{n+=t.text(i2);break}default:{let a='Token with "'+i2.type+
'" type was not found.';if(this.options.silent)return console.error(a),"";throw new Error(a)}}}return n}},j=class{options;block;constructor(r){this.options=r||P}static passThroughHooks=new Set(
["preprocess","postprocess","processAllTokens","emStrongMask"]);static passThroughHooksRespectAsync=new Set(["preprocess","postprocess","processAllTokens"]);preprocess(r){
return r}postprocess(r){return r}processAllTokens(r){return r}emStrongMask(r){return r}provideLexer(r=this.block){return r?R.lex:R.lexInline}provideParser(r=this.
block){return r?A.parse:A.parseInline}};function I(r,e){if(Array.isArray(e))for(let t=0;t<e.length;t++)r.push(e[t]);else r.push(e)}var Me=class{defaults=V();options=this.
setOptions;parse=this.parseMarkdown(!0);parseInline=this.parseMarkdown(!1);Parser=A;Renderer=U2;TextRenderer=ne;Lexer=R;Tokenizer=C;Hooks=j;constructor(...r){this.
use(...r)}walkTokens(r,e){let t=[];for(let n of r)switch(I(t,e.call(this,n)),n.type){case"table":{let s=n;for(let l of s.header)I(t,this.walkTokens(l.tokens,e));
for(let l of s.rows)for(let i2 of l)I(t,this.walkTokens(i2.tokens,e));break}case"list":{let s=n;I(t,this.walkTokens(s.items,e));break}default:{let s=n;this.defaults.
extensions?.childTokens?.[s.type]?this.defaults.extensions.childTokens[s.type].forEach(l=>{let i2=s[l].flat(1/0);I(t,this.walkTokens(i2,e))}):s.tokens&&I(t,this.
walkTokens(s.tokens,e))}}return t}use(...r){let e=this.defaults.extensions||{renderers:Object.create(null),childTokens:Object.create(null)};return r.forEach(t=>{
let n={...t};if(n.async=this.defaults.async||n.async||!1,t.extensions&&(t.extensions.forEach(s=>{if(!s.name)throw new Error("extension name required");if("rende\
rer"in s){let l=e.renderers[s.name];l?e.renderers[s.name]=function(...i2){let a=s.renderer.apply(this,i2);return a===!1&&(a=l.apply(this,i2)),a}:e.renderers[s.name]=
s.renderer}if("tokenizer"in s){if(!s.level||s.level!=="block"&&s.level!=="inline")throw new Error("extension level must be 'block' or 'inline'");let l=e[s.level];
l?l.unshift(s.tokenizer):e[s.level]=[s.tokenizer],s.start&&(s.level==="block"?e.startBlock?e.startBlock.push(s.start):e.startBlock=[s.start]:s.level==="inline"&&
(e.startInline?e.startInline.push(s.start):e.startInline=[s.start]))}"childTokens"in s&&s.childTokens&&(e.childTokens[s.name]=s.childTokens)}),n.extensions=e),t.
renderer){let s=this.defaults.renderer||new U2(this.defaults);for(let l in t.renderer){if(!(l in s))throw new Error(`renderer '${l}' does not exist`);if(["optio\
ns","parser"].includes(l))continue;let i2=l,a=t.renderer[i2],o=s[i2];s[i2]=(...p)=>{let c=a.apply(s,p);return c===!1&&(c=o.apply(s,p)),c===!1?"":c??""}}n.renderer=
s}if(t.tokenizer){let s=this.defaults.tokenizer||new C(this.defaults);for(let l in t.tokenizer){if(!(l in s))throw new Error(`tokenizer '${l}' does not exist`);
if(["options","rules","lexer"].includes(l))continue;let i2=l,a=t.tokenizer[i2],o=s[i2];s[i2]=(...p)=>{let c=a.apply(s,p);return c===!1&&(c=o.apply(s,p)),c}}n.tokenizer=
s}if(t.hooks){let s=this.defaults.hooks||new j;for(let l in t.hooks){if(!(l in s))throw new Error(`hook '${l}' does not exist`);if(["options","block"].includes(
l))continue;let i2=l,a=t.hooks[i2],o=s[i2];j.passThroughHooks.has(l)?s[i2]=p=>{if(s.options.async&&j.passThroughHooksRespectAsync.has(l))return(async()=>{let u=await a.
call(s,p);return o.call(s,u)})();let c=a.call(s,p);return o.call(s,c)}:s[i2]=(...p)=>{if(s.options.async)return(async()=>{let u=await a.apply(s,p);return u===!1&&
(u=await o.apply(s,p)),u})();let c=a.apply(s,p);return c===!1&&(c=o.apply(s,p)),c}}n.hooks=s}if(t.walkTokens){let s=this.defaults.walkTokens,l=t.walkTokens;n.walkTokens=
function(i2){let a=[];return I(a,l.call(this,i2)),s&&I(a,s.call(this,i2)),a}}this.defaults={...this.defaults,...n}}),this}setOptions(r){return this.defaults={...this.
defaults,...r},this}lexer(r,e){return R.lex(r,e??this.defaults)}parser(r,e){return A.parse(r,e??this.defaults)}parseMarkdown(r){return(e,t)=>{let n={...t},s={...this.
defaults,...n},l=this.onError(!!s.silent,!!s.async);if(this.defaults.async===!0&&n.async===!1)return l(new Error("marked(): The async option was set to true by \
an extension. Remove async: false from the parse options object to return a Promise."));if(typeof e>"u"||e===null)return l(new Error("marked(): input parameter \
is undefined or null"));if(typeof e!="string")return l(new Error("marked(): input parameter is of type "+Object.prototype.toString.call(e)+", string expected"));
if(s.hooks&&(s.hooks.options=s,s.hooks.block=r),s.async)return(async()=>{let i2=s.hooks?await s.hooks.preprocess(e):e,a=await(s.hooks?await s.hooks.provideLexer(
r):r?R.lex:R.lexInline)(i2,s),o=s.hooks?await s.hooks.processAllTokens(a):a;s.walkTokens&&await Promise.all(this.walkTokens(o,s.walkTokens));let p=await(s.hooks?
await s.hooks.provideParser(r):r?A.parse:A.parseInline)(o,s);return s.hooks?await s.hooks.postprocess(p):p})().catch(l);try{s.hooks&&(e=s.hooks.preprocess(e));let i2=(s.
hooks?s.hooks.provideLexer(r):r?R.lex:R.lexInline)(e,s);s.hooks&&(i2=s.hooks.processAllTokens(i2)),s.walkTokens&&this.walkTokens(i2,s.walkTokens);let a=(s.hooks?
s.hooks.provideParser(r):r?A.parse:A.parseInline)(i2,s);return s.hooks&&(a=s.hooks.postprocess(a)),a}catch(i2){return l(i2)}}}onError(r,e){return t=>{if(t.message+=
`
Please report this to https://github.com/markedjs/marked.`,r){let n="<p>An error occurred:</p><pre>"+$2(t.message+"",!0)+"</pre>";return e?Promise.resolve(n):n}
if(e)return Promise.reject(t);throw t}}},q=new Me;function x(r,e){return q.parse(r,e)}x.options=x.setOptions=function(r){return q.setOptions(r),x.defaults=q.defaults,
xe(x.defaults),x},x.getDefaults=V,x.defaults=P;function Oe(...r){return q.use(...r),x.defaults=q.defaults,xe(x.defaults),x}x.use=Oe,x.walkTokens=function(r,e){return q.
walkTokens(r,e)},x.parseInline=q.parseInline,x.Parser=A,x.parser=A.parse,x.Renderer=U2,x.TextRenderer=ne,x.Lexer=R,x.lexer=R.lex,x.Tokenizer=C,x.Hooks=j,x.parse=
x;var Nt=x.options,Ft=x.setOptions,Wt=x.walkTokens,Xt=x.parseInline;var Ut=A.parse,Kt=R.lex;var CHARS_MAX=3e5;function Markdown({text:text2}){return text2.length>CHARS_MAX?i("pre",{class:"markdown",children:text2}):i("div",{class:"markdown",children:blocks(
levelled(Kt(text2)))})}function plain(text2){return text2.length>CHARS_MAX?text2:words(Kt(text2)).replace(/\s+/g," ").trim()}function words(tokens){return tokens.
map(token=>{switch(token.type){case"list":return token.items.map(item=>words(item.tokens)).join(" ");case"table":return[token.header,...token.rows].flat().map(cell=>words(
cell.tokens)).join(" ");case"space":case"hr":case"br":case"def":return" ";default:return"tokens"in token&&token.tokens?words(token.tokens)+(BLOCKS.includes(token.
type)?" ":""):"text"in token?decoded(String(token.text))+(BLOCKS.includes(token.type)?" ":""):token.raw}}).join("")}var BLOCKS=["heading","paragraph","code","bl\
ockquote","html"];function levelled(tokens){let open=[];return tokens.map(token=>{if(token.type!=="heading")return token;for(;open.length>0&&(open.at(-1)??0)>=token.
depth;)open.pop();return open.push(token.depth),{...token,depth:open.length}})}function blocks(tokens){return tokens.map(block)}function block(token,index){switch(token.
type){case"heading":return heading(token,index);case"paragraph":return i("p",{children:spans(token.tokens)},index);case"text":return i("span",{children:token.tokens?
spans(token.tokens??[]):decoded(token.text)},index);case"code":return i("pre",{tabIndex:0,children:i("code",{children:token.text})},index);case"blockquote":return i(
"blockquote",{children:blocks(token.tokens)},index);case"hr":return i("hr",{},index);case"list":{let list2=token,items=list2.items.map((item,at2)=>i("li",{children:blocks(
item.tokens)},at2));return list2.ordered?i("ol",{start:Number(list2.start)||1,children:items},index):i("ul",{children:items},index)}case"table":{let table=token;
return i("div",{class:"scroll-x",tabIndex:0,role:"region","aria-label":"Table",children:i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:table.
header.map((cell,at2)=>i("th",{scope:"col",children:spans(cell.tokens)},at2))})}),i("tbody",{children:table.rows.map((row,at2)=>i("tr",{children:row.map((cell,place2)=>i(
"td",{children:spans(cell.tokens)},place2))},at2))})]})},index)}case"html":return i("p",{children:token.text},index);case"space":case"def":return null;default:return i(
"p",{children:token.raw},index)}}function heading(token,index){let inside=spans(token.tokens);return token.depth<=1?i("h2",{children:inside},index):token.depth===
2?i("h3",{children:inside},index):i("h4",{children:inside},index)}function spans(tokens){return tokens.map(span)}function span(token,index){switch(token.type){case"\
strong":return i("strong",{children:spans(token.tokens)},index);case"em":return i("em",{class:"stressed",children:spans(token.tokens)},index);case"del":return i(
"del",{children:spans(token.tokens)},index);case"codespan":return i("code",{children:token.text},index);case"br":return i("br",{},index);case"link":{let{href,tokens}=token,
to=safe(href);return to?i("a",{href:to,rel:"noreferrer",children:spans(tokens)},index):i("span",{children:spans(tokens)},index)}case"image":return token.href.startsWith(
"data:image/")?i("img",{src:token.href,alt:token.text},index):i("span",{children:token.text},index);case"escape":case"text":return i("span",{children:decoded(token.
text)},index);default:return i("span",{children:token.raw},index)}}function safe(href){if(href.startsWith("#/"))return href;try{let url=new URL(href);return["ht\
tps:","http:","mailto:"].includes(url.protocol)?url.href:null}catch{return null}}var NAMED={"&amp;":"&","&lt;":"<","&gt;":">","&quot;":'"',"&#39;":"'","&nbsp;":"\
 "};function decoded(text2){return text2.replace(/&(?:amp|lt|gt|quot|nbsp|#39);/g,one=>NAMED[one]??one)}function object(value){return value&&typeof value=="object"&&!Array.isArray(value)?value:{}}function list(value){return Array.isArray(value)?value:[]}function text(value){
return typeof value=="string"?value:""}var read=new WeakMap;function members(value){let from=object(value),found=read.get(from);return found||read.set(from,found=
Object.entries(from).slice(0,100)),found}function resolved(document,value){let at2=value;for(let steps=0;steps<10;steps++){let reference=at2?.$ref;if(typeof reference!=
"string")return at2;if(reference.length>500||!/^#(\/|$)/.test(reference))return{description:reference.slice(0,500)};at2=reference==="#"?document:reference.slice(
2).split("/").reduce((inside,part)=>{let name=pointed(part);return inside&&typeof inside=="object"&&Object.hasOwn(inside,name)?inside[name]:void 0},document)}}function named(value){
return pointed(text(value?.$ref).slice(0,500).split("/").at(-1)??"")}function pointed(part){let name=part;try{name=decodeURIComponent(part)}catch{}return name.replace(
/~1/g,"/").replace(/~0/g,"~")}function written(value){return typeof value=="string"?value.slice(0,200):inJson(value).slice(0,200)}function laidOut(value){let whole=typeof value==
"string"?value:inJson(value,2);return whole.length>2e4?`${whole.slice(0,2e4)}…`:whole}function inJson(value,spaces){try{return JSON.stringify(value,null,spaces)??
""}catch{return"…"}}var PARTS_MAX=50,NESTED_MAX=3,LOOK_MAX=5,WORDS=["type","title","description","format","enum","const","default","example","examples","items","prefixItems","addit\
ionalProperties","patternProperties","not","minimum","maximum","exclusiveMinimum","exclusiveMaximum","multipleOf","minLength","maxLength","pattern","minItems","\
maxItems","uniqueItems","minProperties","maxProperties","readOnly","writeOnly","deprecated","contentMediaType","contentEncoding"],shapes=new WeakMap;function shapeOf(document,schema){
let given=object(schema),before=shapes.get(given);if(before)return before;let parts=[],seen=new Set,choices=[],isNullable=!1,gather=value=>{if(parts.length>=PARTS_MAX)
return;let at2=object(resolved(document,value));if(typeof value?.$ref=="string"&&Object.keys(value).length>1&&parts.push(value),!seen.has(at2)){seen.add(at2),parts.
push(at2),isNullable||=at2.nullable===!0||at2.type==="null"||list(at2.type).includes("null"),list(at2.allOf).slice(0,PARTS_MAX).forEach(gather);for(let[member,how]of[
["oneOf","One of"],["anyOf","Any of"]]){let all=list(at2[member]).slice(0,100),options=all.filter(one=>object(resolved(document,one)).type!=="null");isNullable||=
options.length<all.length,options.length===1?gather(options[0]):options.length>1&&choices.push({how,options,...told(at2.discriminator,options)})}}};gather(given);
let words2=Object.fromEntries(WORDS.map(word=>[word,parts.find(part=>part[word]!==void 0)?.[word]])),properties=new Map,required=new Set;for(let part of parts){
for(let[name,value]of members(part.properties))properties.size<100&&!properties.has(name)&&properties.set(name,value);for(let name of list(part.required).slice(
0,100))required.add(text(name))}let isList=words2.type==="array"||list(words2.type).includes("array")||words2.type===void 0&&words2.items!==void 0,shape={name:text(
words2.title).slice(0,60)||named(given),words:words2,properties:[...properties],required,choices,isList,isNullable};return shapes.set(given,shape),shape}function told(discriminator,options){
let mapping=members(object(discriminator).mapping),value=option=>mapping.find(([,to])=>text(to)!==""&&(to===option?.$ref||to===named(option)))?.[0]??named(option),
member=text(object(discriminator).propertyName);return{member,values:member?options.map(value):[]}}function ofOthers(shape){let{additionalProperties:others}=shape.
words;return others&&typeof others=="object"?others:others===!0&&shape.properties.length===0?{}:null}var insides=new WeakMap;function hasInside(document,schema,looked=0){
let given=object(schema),known=insides.get(given);if(known!==void 0||looked>LOOK_MAX)return known??!0;insides.set(given,!0);let shape=shapeOf(document,schema),inner=[
...shape.isList?[shape.words.items,...list(shape.words.prefixItems).slice(0,20)]:[],ofOthers(shape)],found=shape.properties.length>0||shape.choices.length>0||members(
shape.words.patternProperties).length>0||inner.some(one=>one&&typeof one=="object"&&hasInside(document,one,looked+1));return insides.set(given,found),found}function kind(document,schema,nested=0){
if(schema===!1)return"nothing";let shape=shapeOf(document,schema),{type,format,const:constant}=shape.words,types=(Array.isArray(type)?type.slice(0,20):[type]).map(
text).filter(one=>one&&one!=="null"),others=ofOthers(shape),words2;constant!==void 0?words2=`always ${written(constant)}`:shape.isList?words2=nested<NESTED_MAX?
`list of ${kind(document,shape.words.items,nested+1)}`:"list":shape.properties.length===0&&others?words2=nested<NESTED_MAX?`map of ${kind(document,others,nested+
1)}`:"map":shape.properties.length>0||types[0]==="object"?words2=shape.name||"object":shape.choices[0]?words2=shape.name||`${shape.choices[0].how.toLowerCase()}\
 ${shape.choices[0].options.length}`:words2=types.join(" or ")||(shape.isNullable?"":"anything");let more=[format?`(${text(format)})`:"",Array.isArray(shape.words.
enum)?`: ${shape.words.enum.slice(0,20).map(written).join(", ")}${shape.words.enum.length>20?", …":""}`:""];return[words2+(more[0]?` ${more[0]}`:"")+more[1],shape.
isNullable?"null":""].filter(Boolean).join(" or ")}function limits(document,schema){let{words:words2}=shapeOf(document,schema),number=value=>typeof value=="numb\
er"?value:null,range=(least,most,unit)=>{let[from,to]=[number(least),number(most)];return from!==null&&to!==null?from===to?`${from}${unit}`:`${from} to ${to}${unit}`:
from!==null?`${from} or more${unit}`:to!==null?`at most ${to}${unit}`:""},above=words2.exclusiveMinimum===!0?number(words2.minimum):number(words2.exclusiveMinimum),
below=words2.exclusiveMaximum===!0?number(words2.maximum):number(words2.exclusiveMaximum),examples=words2.example!==void 0?[words2.example]:list(words2.examples).
slice(0,3);return[range(words2.exclusiveMinimum===!0?null:words2.minimum,words2.exclusiveMaximum===!0?null:words2.maximum,""),above!==null?`more than ${above}`:
"",below!==null?`less than ${below}`:"",number(words2.multipleOf)!==null?`a multiple of ${words2.multipleOf}`:"",range(words2.minLength,words2.maxLength," chara\
cters"),text(words2.pattern)?`matches ${written(words2.pattern)}`:"",range(words2.minItems,words2.maxItems," entries"),words2.uniqueItems===!0?"all different":"",
range(words2.minProperties,words2.maxProperties," members"),text(words2.contentMediaType),text(words2.contentEncoding),words2.not&&typeof words2.not=="object"?`\
not ${kind(document,words2.not)}`:"",words2.default!==void 0?`default ${written(words2.default)}`:"",...examples.map(one=>`example ${written(one)}`)].filter(Boolean)}var DEPTH_MAX=4,SHOWN_MAX=1e3,WORDS_MAX=2e3;function Schema({document,schema,budget={left:SHOWN_MAX}}){return i("div",{class:"stack schema-of",children:[i("p",{
children:[i("code",{children:kind(document,schema)})," ",i(Marks,{document,schema})]}),i(Words,{children:shapeOf(document,schema).words.description}),i(Inside,{
document,schema,budget})]})}function Inside({document,schema,depth=0,budget={left:SHOWN_MAX},above=[]}){if(!schema||typeof schema!="object"||!hasInside(document,
schema))return null;let at2=resolved(document,schema);if(depth>DEPTH_MAX||budget.left<=0||above.includes(at2))return i(Folded,{title:"More of it",children:()=>i(
Inside,{document,schema})});let shape=shapeOf(document,schema),place2={document,depth,budget,above:[...above,at2]};if(shape.isList){let first=list(shape.words.prefixItems).
slice(0,20);return budget.left-=first.length+1,i($,{children:[first.length>0&&i("ul",{class:"schema-members",children:first.map((one,index)=>i(Member,{name:String(
index),place:{...place2,schema:one}},index))}),i(Inside,{...place2,schema:shape.words.items,depth:depth+1})]})}let others=ofOthers(shape),patterns=members(shape.
words.patternProperties);return budget.left-=shape.properties.length+patterns.length+1,i($,{children:[shape.properties.length+patterns.length>0&&i("ul",{class:"\
schema-members",children:[shape.properties.map(([name,member])=>i(Member,{name,isRequired:shape.required.has(name),place:{...place2,schema:member}},name)),patterns.
map(([pattern,member])=>i(Member,{name:`/${pattern}/`,place:{...place2,schema:member}},`/${pattern}`))]}),others&&(shape.properties.length>0||hasInside(document,
others))&&i("ul",{class:"schema-members",children:i(Member,{name:"any name",place:{...place2,schema:others}})}),shape.choices.map((choice,index)=>i(Alternatives,
{document,choice,budget},index))]})}function Member({name,isRequired,place:place2}){let{document,schema,depth=0}=place2;return i("li",{children:[i("code",{children:name}),
isRequired&&" *"," ",i("small",{children:kind(document,schema)})," ",i(Marks,{document,schema}),i(Words,{children:shapeOf(document,schema).words.description}),i(
Inside,{...place2,depth:depth+1})]})}function Alternatives({document,choice,budget}){return budget.left-=choice.options.length,i("div",{class:"schema-members",children:[
i("p",{children:[choice.how,choice.member&&i($,{children:[", as ",i("code",{children:choice.member})," says"]}),":"]}),choice.options.map((option,index)=>{let title=i(
$,{children:[i("code",{children:kind(document,option)}),choice.values[index]&&i("small",{children:[" if it is ",choice.values[index]]})]});return hasInside(document,
option)||text(shapeOf(document,option).words.description)?i(Folded,{title,children:()=>i(Schema,{document,schema:option})},index):i("p",{children:[title," ",i(Marks,
{document,schema:option})]},index)})]})}function Marks({document,schema}){let{words:words2}=shapeOf(document,schema);return i($,{children:[words2.readOnly===!0&&
i(Badge,{tone:"muted",children:"read only"}),words2.writeOnly===!0&&i(Badge,{tone:"muted",children:"write only"}),words2.deprecated===!0&&i(Badge,{tone:"warn",children:"\
deprecated"}),limits(document,schema).map((one,index)=>i("span",{children:[" ",i("small",{class:"limit",children:one})]},index))]})}function Words({children,most=WORDS_MAX}){
let words2=text(children);return words2?words2.length>most?i("p",{class:"as-written",children:[words2.slice(0,most),"…"]}):i(Markdown,{text:words2}):null}function Folded({
title,isKept,isWanted=!1,children}){let element=U(null),[isOpen,setOpen]=w(!1),[wasOpen,note]=w(!1);return S(()=>{!isWanted||!element.current||(element.current.
open=!0,element.current.scrollIntoView({block:"start"}),element.current.querySelector("summary")?.focus({preventScroll:!0}))},[isWanted]),i("details",{ref:element,
onToggle:event=>{setOpen(event.currentTarget.open),note(!0)},children:[i("summary",{children:title}),(isOpen||isKept&&wasOpen)&&children()]})}function WantedPanel({isOpen,wanted,mark,title,children}){let element=U(null),[open,setOpen]=w(isOpen),[wasOpen,note]=w(isOpen);return S(()=>{wanted===null||!element.
current||(element.current.open=!0,element.current.scrollIntoView({block:"start"}),element.current.querySelector("summary")?.focus({preventScroll:!0}))},[wanted]),
i("details",{class:"panel operation",ref:element,open,...mark,onToggle:event=>{event.target===event.currentTarget&&(setOpen(event.currentTarget.open),note(!0))},
children:[i("summary",{children:i("h3",{children:title})}),wasOpen&&children()]})}var LISTED_MAX=300,ARGUMENTS_MAX=1e3,KINDS2={type:"Types",interface:"Interfaces",input:"Inputs",enum:"Enumerations",union:"Unions",scalar:"Scalars"},ROOTS="Oper\
ations";function GraphqlReference({text:text2,at:at2}){let schema=b(()=>readSchema(text2),[text2]);return!schema||schema.types.length===0?i(Panel,{title:"Schema",
children:i("pre",{class:"body schema",tabIndex:0,children:text2})}):i($,{children:[i(Types,{schema,at:at2}),i(Panel,{title:"Schema as text",children:i("div",{class:"\
body",children:i(Folded,{title:"The whole schema",children:()=>i("pre",{class:"schema",tabIndex:0,children:text2})})})})]})}function Types({schema,at:[product,api]}){
let[words2,setWords]=w(""),[turn,setTurn]=w(0),wanted=route.value.query.get("type"),known=b(()=>new Map(schema.types.map(type=>[type.name,type])),[schema]),looked=words2.
toLowerCase().split(/\s+/).filter(Boolean),has2=type=>looked.every(word=>[type.name,...type.fields.map(field=>field.name)].some(name=>name.toLowerCase().includes(
word))),groups=b(()=>{let isRoot=type=>schema.roots.includes(type.name);return[{name:ROOTS,types:schema.roots.flatMap(name=>known.get(name)??[])},...Object.entries(
KINDS2).map(([kind2,name])=>({name,types:schema.types.filter(type=>type.kind===kind2&&!isRoot(type))}))]},[schema]),left=LISTED_MAX,seen=groups.map(group=>{let fitting=group.
types.filter(type=>has2(type)||type.name===wanted&&looked.length===0),types=fitting.slice(0,left),one=fitting.find(type=>type.name===wanted);return left-=types.
length,{...group,types:one&&!types.includes(one)?[...types,one]:types,more:fitting.length-types.length}}).filter(group=>group.types.length>0),more=seen.reduce((sum,group)=>sum+
group.more,0),to=name=>link(["products",product,"apis",api],{type:name}),shown={has:name=>known.has(name),to,follow:()=>setTurn(turn+1)};return i("div",{class:"\
with-contents",children:[i("nav",{class:"contents","aria-label":"Types",children:[schema.types.length>1&&i(Field,{label:"Find a type or field",children:i("input",
{type:"search",value:words2,onInput:event=>setWords(event.currentTarget.value)})}),seen.map(group=>i("div",{children:[i("strong",{children:group.name}),i("ul",{
children:group.types.map(type=>i("li",{children:i("a",{href:to(type.name),"aria-current":wanted===type.name?"true":void 0,onClick:shown.follow,children:type.name})},
type.name))})]},group.name)),seen.length===0&&i("p",{role:"status",children:"No type has these words."})]}),i("div",{children:[(schema.isCut||more>0)&&i(Note,{tone:"\
warn",icon:"alert",children:"This schema is large: not all of it is shown here. Its text has everything."}),seen.map(group=>i("section",{children:[i("h2",{class:"\
tag",children:group.name}),group.types.map(type=>i(TypePanel,{type,known:shown,isOpen:group.name===ROOTS,wanted:wanted===type.name?turn:null},type.name))]},group.
name)),seen.length===0&&i(Empty,{title:"Nothing found"})]})]})}function TypePanel({type,known,isOpen,wanted}){return i(WantedPanel,{isOpen,wanted,mark:{"data-ty\
pe":type.name},title:i($,{children:[i(Badge,{tone:"accent",children:type.kind})," ",i("code",{children:type.name})]}),children:()=>i("div",{class:"body stack",children:[
i(Words,{children:type.description}),type.members.length>0&&i("p",{children:[type.kind==="union"?"One of ":"Has the fields of ",type.members.map((name,index)=>i(
"span",{children:[index>0&&", ",i(TypeLink,{type:name,known})]},name)),"."]}),type.fields.length>0&&i("ul",{class:"schema-members",children:withFewArguments(type.
fields).map((field,index)=>i(FieldEntry,{field,known},index))}),type.fields.length===0&&type.members.length===0&&!type.description&&i("p",{children:"Nothing mor\
e is said of it."})]})})}function withFewArguments(fields){let left=ARGUMENTS_MAX;return fields.map(field=>{let args=field.args.slice(0,left);return left-=args.
length,{...field,args}})}function FieldEntry({field,known}){return i("li",{children:[i(Named,{one:field,known}),field.args.length>0&&i("ul",{class:"schema-membe\
rs","aria-label":`Arguments of ${field.name}`,children:field.args.map((one,index)=>i("li",{children:i(Named,{one,known})},index))})]})}function Named({one,known}){
return i($,{children:[i("code",{children:one.name}),one.type&&i($,{children:[" ",i("small",{children:i(TypeLink,{type:one.type,known})})]}),one.value&&i($,{children:[
" ",i("small",{class:"limit",children:["default ",one.value]})]}),one.deprecated!==null&&i($,{children:[" ",i(Badge,{tone:"warn",children:"deprecated"})]}),one.
deprecated&&i(Words,{children:one.deprecated}),i(Words,{children:one.description})]})}function TypeLink({type,known}){let name=nameIn(type);return i("code",{children:known.
has(name)?i("a",{href:known.to(name),onClick:known.follow,children:type}):type})}var DEPTH_MAX2=6,VALUES_OF_ONE_MAX=300;function examplesOf(document,media,isRequest){let given=object(media);if(given.example!==void 0)return[{title:"Example",text:laidOut(
given.example)}];let named3=members(given.examples).slice(0,20).map(([name,one])=>({name,value:object(resolved(document,one))})).filter(one=>one.value.value!==void 0);
if(named3.length>0)return named3.map(({name,value})=>({title:text(value.summary)||name,text:laidOut(value.value)}));if(given.schema===void 0)return[];let made=exampleOf(
document,given.schema,isRequest);return made===void 0?[]:[{title:"Example",text:laidOut(made)}]}function exampleOf(document,schema,isRequest,above=[],budget={left:VALUES_OF_ONE_MAX}){
let at2=resolved(document,schema);if(above.length>DEPTH_MAX2||budget.left--<=0||above.includes(at2))return;let shape=shapeOf(document,schema),{words:words2}=shape,
given=[words2.example,list(words2.examples)[0],words2.default,words2.const,list(words2.enum)[0]].find(one=>one!==void 0);if(given!==void 0)return given;let inner=one=>exampleOf(
document,one,isRequest,[...above,at2],budget);if(shape.isList)return[words2.items===void 0?void 0:inner(words2.items)].filter(one=>one!==void 0);let chosen2=shape.
choices.map(choice=>({value:inner(choice.options[0]),choice})),type=text(words2.type)||text(list(words2.type).find(one=>one!=="null"));if(shape.properties.length===
0&&chosen2[0]&&type!=="object")return withTold(chosen2[0].value,chosen2[0].choice);if(shape.properties.length>0||type==="object"||ofOthers(shape)){let own=shape.
properties.filter(([,one])=>!(isRequest?shapeOf(document,one).words.readOnly:shapeOf(document,one).words.writeOnly)).map(([name,one])=>[name,inner(one)]).filter(
([,value])=>value!==void 0),others=shape.properties.length===0&&chosen2.length===0?ofOthers(shape):null,other=others&&Object.keys(others).length>0?inner(others):
void 0;return Object.fromEntries([...own,...chosen2.flatMap(({value,choice})=>Object.entries(object(withTold(value,choice)))),...other!==void 0?[["name",other]]:
[]])}switch(type){case"string":return ofFormat(text(words2.format));case"integer":case"number":return typeof words2.minimum=="number"?words2.minimum+(words2.exclusiveMinimum===
!0?1:0):typeof words2.exclusiveMinimum=="number"?words2.exclusiveMinimum+1:0;case"boolean":return!0;default:return}}function withTold(value,choice){return choice.
member&&choice.values[0]&&value&&typeof value=="object"&&!Array.isArray(value)?Object.fromEntries([[choice.member,choice.values[0]],...Object.entries(value).filter(
([name])=>name!==choice.member)]):value}function ofFormat(format){switch(format){case"date-time":return"2026-01-31T12:00:00Z";case"date":return"2026-01-31";case"\
time":return"12:00:00Z";case"uuid":return"3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b";case"email":return"ada@example.com";case"uri":case"url":return"https://example.c\
om/";case"hostname":return"example.com";case"ipv4":return"192.0.2.1";case"ipv6":return"2001:db8::1";case"byte":return"AA==";default:return"text"}}var METHODS=["get","post","put","patch","delete","head","options","trace"],OPERATIONS_MAX=500,PATH_CHARS_MAX=500,SUMMARY_CHARS_MAX=300,NAME_CHARS_MAX=100;function operationsOf(document,paths){
let found=[];for(let[path,given]of Object.entries(object(paths))){if(path.length>PATH_CHARS_MAX)continue;let item=object(resolved(document,given));for(let method of METHODS){
let value=item[method];if(found.length>=OPERATIONS_MAX)return found;value&&typeof value=="object"&&!Array.isArray(value)&&found.push({place:`${method} ${path}`,
method,path,value,parameters:parametersOf(document,path,item,value)})}}return found}function parametersOf(document,path,item,value){let found=new Map;for(let one of[
...list(item.parameters).slice(0,100),...list(value.parameters).slice(0,100)]){let at2=object(resolved(document,one));found.set(`${text(at2.in)} ${text(at2.name)}`,
at2)}for(let[,name=""]of path.matchAll(/\{([^{}]+)\}/g))found.has(`path ${name}`)||found.set(`path ${name}`,{name,in:"path",required:!0,schema:{type:"string"}});
return[...found.values()].slice(0,100)}function tagsOf(document,operations){let tags=new Map;for(let one of list(document.tags).slice(0,100))tags.set(nameOf(one?.
name),{name:nameOf(one?.name),description:text(one?.description),operations:[]});for(let operation of operations){let name=nameOf(list(operation.value.tags)[0]),
tag=tags.get(name)??{name,description:"",operations:[]};tag.operations.push(operation),tags.set(name,tag)}return[...tags.values()].filter(tag=>tag.operations.length>
0)}var nameOf=value=>text(value).slice(0,NAME_CHARS_MAX);function summaryOf(value){return text(value.summary).slice(0,SUMMARY_CHARS_MAX)}function has({method,path,
value},words2){let all=[method,path,summaryOf(value),nameOf(value.operationId),...list(value.tags).slice(0,100).map(nameOf)].join(" ").toLowerCase();return words2.
every(word=>all.includes(word))}function securityOf(document,operation){return list(operation.value.security??document.security).slice(0,100).map(one=>members(one).
map(([name,scopes])=>{let scheme=object(resolved(document,object(object(document.components).securitySchemes)[name])),how={apiKey:`key in ${text(scheme.in)} ${text(
scheme.name)}`,http:text(scheme.scheme),oauth2:"OAuth 2.0",openIdConnect:"OpenID Connect",mutualTLS:"client certificate"}[text(scheme.type)],wanted=list(scopes).
slice(0,100).map(text).join(", ");return`${name}${how?` (${how})`:""}${wanted&&`, scopes ${wanted}`}`}).join(" and ")||"nothing")}function initial(document,parameter){let given=object(parameter);if(!given.schema&&given.content)return examplesOf(document,members(given.content)[0]?.[1],!0)[0]?.
text??"";let own=given.example??object(resolved(document,members(given.examples)[0]?.[1])).value,{words:words2}=shapeOf(document,given.schema),value=own??words2.
example??list(words2.examples)[0]??words2.default??(given.required===!0||given.in==="path"?exampleOf(document,given.schema,!0):void 0);return typedAs(value)}var typedAs=value=>value==
null?"":Array.isArray(value)?value.slice(0,20).map(one=>written(one)).join(`
`):laidOut(value),FORMS=["application/x-www-form-urlencoded","multipart/form-data"];function startOf(document,type,media){let{schema}=object(media),isBinary=one=>{
let{words:words2}=shapeOf(document,one);return words2.format==="binary"||text(words2.contentMediaType)!==""&&!words2.contentEncoding};if(FORMS.includes(type.toLowerCase().
split(";")[0]?.trim()??"")){let shape=shapeOf(document,schema),example2=object(object(media).example??exampleOf(document,schema,!0));return{text:"",fields:shape.
properties.filter(([,one])=>shapeOf(document,one).words.readOnly!==!0).map(([name,one])=>({name,schema:one,isRequired:shape.required.has(name),isFile:isBinary(one),
isList:shapeOf(document,one).isList,value:isBinary(one)?null:typedAs(Object.hasOwn(example2,name)?example2[name]:void 0)}))}}if(schema!==void 0&&isBinary(schema)||
/^(image|audio|video|font)\/|octet-stream|\/(pdf|zip|gzip)\b/.test(type))return{text:"",file:null};let example=examplesOf(document,media,!0)[0]?.text??"";return{
text:/json/i.test(type)||object(media).example!==void 0||object(media).examples!==void 0||!/^[{[]/.test(example)?example:""}}function withBody(prepared,type,body){
let[name=""]=type.split(";"),kindOf=["Content-Type",type],filled=(body.fields??[]).flatMap(({name:field,value,isList})=>(typeof value=="string"?(isList?value.split(
`
`):[value]).filter(Boolean):value?[value]:[]).map(one=>[field,one])),typed={...prepared,headers:[...prepared.headers,kindOf]};if(!type||type.includes("*"))return prepared;
if(body.fields&&name.trim().toLowerCase()==="multipart/form-data"){let form=new FormData;for(let[field,value]of filled)form.append(field,value);return{...prepared,
body:form,curl:filled.map(([field,value])=>typeof value=="string"?`--form-string ${shell(`${field}=${value}`)}`:`-F ${shell(`${field}=@${value.name}`)}`)}}if(body.
fields){let pairs=new URLSearchParams(filled.map(([field,value])=>[field,String(value)]));return{...typed,body:String(pairs),curl:[`--data-raw ${shell(String(pairs))}`]}}
return body.file!==void 0?body.file?{...typed,body:body.file,curl:[`--data-binary ${shell(`@${body.file.name}`)}`]}:prepared:body.text?{...typed,body:body.text,
curl:[`--data-raw ${shell(body.text)}`]}:prepared}var usable=caller=>ownKeys.value.filter(one=>one.product===caller.product),chosen=caller=>caller.chosen===null?usable(caller).at(-1):usable(caller).find(one=>one.
id===caller.chosen);function keyOf(caller){return chosen(caller)?.key??caller.pasted.trim()}function KeyField({api,caller}){if(!api.key_header)return null;let what=api.
token_path?"access token":"key",own=api.token_path?[]:usable(caller.value),one=api.token_path?void 0:chosen(caller.value);return i($,{children:[own.length>0&&i(
Field,{label:"Key",children:i("select",{value:one?.id??"",onChange:event=>{caller.value={...caller.value,chosen:event.currentTarget.value}},children:[own.map(({
id,tail,application})=>i("option",{value:id,children:["…",tail," of ",application]},id)),i("option",{value:"",children:"another one"})]})}),!one&&i(Field,{label:`\
Your ${what}`,hint:i($,{children:["It goes to the gateway alone, and is not kept. ",api.token_path?i($,{children:["Tokens are given at ",i("code",{children:api.
token_path}),"."]}):i($,{children:["None yet? ",i("a",{href:link(["products",caller.value.product]),children:"Choose a plan"}),"."]})]}),children:i("input",{name:"\
key",type:"password",autocomplete:"off",maxLength:4096,required:!0,value:caller.value.pasted,onInput:event=>{caller.value={...caller.value,pasted:event.currentTarget.
value}}})})]})}var ANSWER_MS_MAX=2e4,SHOWN_BYTES_MAX=1e5,LAID_OUT_CHARS_MAX=3e5,LEVELS_MAX=30;function keyHeaders(api,key){return api.key_header&&key?[[api.key_header,api.token_path?
`Bearer ${key}`:key]]:[]}function isReachable(api){return facts.value?.try_it===!0&&new URL(base(api)).origin===new URL(facts.value.gateway_url).origin}var OWN=[
"accept","authorization","content-type"];function isAsked(api,parameter){let name=text(parameter?.name).toLowerCase();return name!==""&&!(text(parameter?.in)===
"header"&&(OWN.includes(name)||name===api.key_header.toLowerCase()))}function prepare(document,api,method,path,given,key){let query=[],headers=[],cookies=[],filled=path.
replace(/[?#]/g,encodeURIComponent);for(let{parameter,value}of given){let name=text(parameter?.name),place2=text(parameter?.in);if(!isAsked(api,parameter)||value===
""&&place2!=="path")continue;let pairs=serialised(document,parameter,value);place2==="path"?filled=filled.replaceAll(`{${name}}`,()=>pairs[0]?.[1]??""):place2===
"query"?query.push(...pairs.map(([one,words2])=>`${encodeURIComponent(one)}=${words2}`)):place2==="cookie"?cookies.push(...pairs.map(([one,words2])=>`${one}=${words2}`)):
place2==="header"&&headers.push([name,pairs[0]?.[1]??""])}let root=base(api),url=root.replace(/\/$/,"")+(filled.startsWith("/")?filled:`/${filled}`);if(/\/(\.|%2e){1,2}(\/|$)/i.
test(filled)||!new URL(url).href.startsWith(new URL(root).href))throw new Error("This path leads out of the API, so it is not called.");headers.push(...keyHeaders(
api,key));for(let[name,value]of headers)try{new Headers([[name,value]])}catch{throw new Error(`The header ${name} cannot have this name or value.`)}return{method:method.
toUpperCase(),url:url+(query.length>0?`?${query.join("&")}`:""),headers,body:null,cookies,curl:[]}}function serialised(document,parameter,typed){let name=text(parameter.
name),place2=text(parameter.in),code=place2==="header"||place2==="cookie"?one=>one:encodeURIComponent,style=text(parameter.style)||(place2==="query"||place2==="\
cookie"?"form":"simple"),explodes=typeof parameter.explode=="boolean"?parameter.explode:style==="form"||style==="deepObject",before=style==="label"?".":style===
"matrix"?`;${encodeURIComponent(name)}=`:"",type=parameter.content?"":typeOf(document,parameter.schema);if(type==="array"){let entries=typed.split(`
`).map(one=>one.trim()).filter(Boolean).map(code);if(place2==="query"&&explodes)return entries.map(one=>[name,one]);let between=style==="spaceDelimited"?"%20":style===
"pipeDelimited"?"%7C":",";return[[name,before+entries.join(between)]]}if(type==="object"){let value;try{value=JSON.parse(typed)}catch{throw new Error(`${name} m\
ust be JSON.`)}let pairs=members(value).map(([member,one])=>[member,code(typeof one=="string"?one:JSON.stringify(one))]);return place2==="query"&&style==="deepO\
bject"?pairs.map(([member,one])=>[`${name}[${member}]`,one]):place2==="query"&&explodes?pairs:[[name,before+pairs.map(([member,one])=>code(member)+(explodes?"=":
",")+one).join(",")]]}return[[name,before+code(typed)]]}function typeOf(document,schema){let at2=object(resolved(document,schema));return text(at2.type)||text(list(
at2.type).find(one=>one!=="null"))||(at2.properties?"object":at2.items?"array":"")}function curl(prepared){let lines=prepared.headers.map(([name,value])=>`-H ${shell(
`${name}: ${value}`)}`),cookies=prepared.cookies.length>0?[`-b ${shell(prepared.cookies.join("; "))}`]:[];return[`curl -X ${prepared.method} ${shell(prepared.url)}`,
...lines,...cookies,...prepared.curl].join(` \\
  `)}async function send({method,url,headers,body}){let from=performance.now(),response;try{response=await fetch(url,{method,headers,...body!==null&&{body},credentials:"\
omit",referrerPolicy:"no-referrer",redirect:"manual",cache:"no-store",signal:AbortSignal.timeout(ANSWER_MS_MAX)})}catch(failure){throw failure.name==="TimeoutEr\
ror"?new Error(`There was no answer within ${ANSWER_MS_MAX/1e3} seconds.`):new Error(unreached(url))}if(response.type==="opaqueredirect")throw new Error("The AP\
I answered with a redirect, which this page does not follow. The curl line shows where it leads.");let type=response.headers.get("content-type")??"",found=await beginning(
response,SHOWN_BYTES_MAX);return{status:response.status,words:response.statusText,ms:performance.now()-from,bytes:found.bytes,isCut:found.isCut,headers:[...response.
headers],text:isText(type)?found.isCut?found.text:laidOut2(found.text):null}}function unreached(url){return`The browser could not reach ${new URL(url).origin}, \
or may not read its answer. Check your network, and try the curl line in a terminal: if that works, the portal's operators must look at this API, which does not\
 let pages of the portal read what it answers.`}var isText=type=>/^$|^text\/|[/+](json|xml|yaml|x-yaml|javascript|graphql|x-www-form-urlencoded|x-ndjson|problem)\b/i.
test(type);async function beginning(response,most){let reader=response.body?.getReader(),decoder=new TextDecoder,text2="",bytes2=0;try{for(;reader&&bytes2<=most;){
let{done,value}=await reader.read();if(done)return{text:text2,bytes:bytes2,isCut:!1};text2+=decoder.decode(bytes2+value.length>most?value.subarray(0,most-bytes2):
value,{stream:!0}),bytes2+=value.length}}catch{}return reader?.cancel().catch(()=>{}),{text:text2,bytes:Math.min(bytes2,most),isCut:!!reader}}function laidOut2(body){
try{JSON.parse(body)}catch{return body}let shown=[],chars=0,level=0,isOpened=!1,put=words2=>{shown.push(words2),chars+=words2.length};for(let[token]of body.matchAll(
/"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g)){if(chars>LAID_OUT_CHARS_MAX)return body;let closes=token==="}"||token==="]";closes&&(level-=1),closes!==isOpened&&
put(line(level)),isOpened=token==="{"||token==="[",isOpened&&(level+=1),put(token===","?token+line(level):token===":"?": ":token)}return shown.join("")}var line=level=>`\

${"  ".repeat(Math.min(level,LEVELS_MAX))}`;function TryOperation({document,api,operation,caller}){let parameters=operation.parameters.filter(one=>isAsked(api,one)),requestBody=object(resolved(document,operation.
value.requestBody)),content=["get","head"].includes(operation.method)?[]:members(requestBody.content),[given,setGiven]=w(()=>parameters.map(one=>initial(document,
one))),[type,setType]=w(content[0]?.[0]??""),[body,setBody]=w(()=>startOf(document,content[0]?.[0]??"",content[0]?.[1])),choose=next=>{setType(next),setBody(startOf(
document,next,content.find(([one])=>one===next)?.[1]))},values=parameters.map((parameter,index)=>({parameter,value:given[index]??""})),isRequired=requestBody.required===
!0,key=keyOf(caller.value);return i(CallForm,{api,caller,secret:key,prepared:secret=>withBody(prepare(document,api,operation.method,operation.path,values,secret),
type,body),children:[parameters.length>0&&i("div",{class:"form",children:parameters.map((parameter,index)=>i(Input,{document,name:text(parameter?.name),place:text(
parameter?.in),schema:parameter?.schema,isRequired:parameter?.required===!0||parameter?.in==="path",value:given[index]??"",change:value=>setGiven(given.map((old,at2)=>at2===
index?value:old))},index))}),content.length>1&&i(Field,{label:"Type of the body",children:i("select",{value:type,onChange:event=>choose(event.currentTarget.value),
children:content.map(([one])=>i("option",{children:one},one))})}),body.fields?i("div",{class:"form",children:body.fields.map((field,index)=>{let change=value=>setBody(
{...body,fields:body.fields?.map((old,at2)=>at2===index?{...old,value}:old)});return field.isFile?i(Field,{label:labelled(field.name,field.isRequired),hint:"a f\
ile",children:i("input",{type:"file",required:field.isRequired,onChange:event=>change(event.currentTarget.files?.[0]??null)})},field.name):i(Input,{document,name:field.
name,place:"",schema:field.schema,isRequired:field.isRequired,value:typeof field.value=="string"?field.value:"",change},field.name)})}):content.length>0&&(body.
file!==void 0?i(Field,{label:labelled(`Body: ${type}`,isRequired),children:i("input",{type:"file",required:isRequired,onChange:event=>setBody({...body,file:event.
currentTarget.files?.[0]??null})})}):i(Field,{label:labelled(`Body: ${type}`,isRequired),children:i("textarea",{class:"mono",spellcheck:!1,rows:Math.min(16,Math.
max(4,body.text.split(`
`).length)),required:isRequired,value:body.text,onInput:event=>setBody({...body,text:event.currentTarget.value})})})),values.some(({parameter,value})=>parameter?.
in==="cookie"&&value)&&i(Note,{children:"Browsers do not let pages send cookies to an API: the curl line has them."})]})}function CallForm({api,caller,secret,prepared,
children}){let[busy,setBusy]=w(!1),[answer,setAnswer]=w(null),[failure,setFailure]=w(null),submit=async event=>{event.preventDefault(),setBusy(!0),setFailure(null),
setAnswer(null);try{setAnswer(await send(prepared(secret)))}catch(failed){setFailure(failed)}finally{setBusy(!1)}},command="",shown="",fault=null;try{command=curl(
prepared(secret||"YOUR_KEY")),shown=curl(prepared(secret?"********":"YOUR_KEY"))}catch(failed){fault=failed}return i("form",{class:"stack try",onSubmit:event=>{
submit(event)},children:[i(KeyField,{api,caller}),children,fault!==null&&i(Note,{tone:"warn",icon:"alert",children:fault.message}),command&&i("pre",{class:"line",
children:[i("code",{children:shown}),i(Copy,{text:command,label:"Copy the curl line"})]}),isReachable(api)?i("p",{class:"row",children:[i(Button,{type:"submit",
kind:"primary",icon:"play",disabled:busy,children:busy?"Sending":"Send"}),i("small",{children:"A real call: it counts against the limits of your key."})]}):i(Note,
{children:"This API has a host of its own, which pages of the portal do not call. Use the curl line."}),i("div",{role:"status",children:answer&&i("p",{class:"ro\
w",children:[i(Badge,{tone:answer.status>=500?"bad":answer.status>=400?"warn":"ok",children:answer.status}),i("span",{children:[answer.words," in ",duration(answer.
ms*1e3),", ",answer.isCut&&"more than ",bytes(answer.bytes)]})]})}),failure!==null&&i(ErrorBox,{failure}),answer&&i(Answered,{answer})]})}function Answered({answer}){
let plain2=words2=>words2.split(/([\n\t])/).map(one=>one===`
`||one==="	"?one:visible(one)).join("");return i("div",{class:"stack",role:"group","aria-label":"Answer",children:[i("details",{children:[i("summary",{children:[
answer.headers.length," headers that this page may read"]}),i("pre",{class:"answer",tabIndex:0,children:answer.headers.map(([name,value])=>plain2(`${name}: ${value}`)).
join(`
`)})]}),answer.text===null?i("p",{children:"The body is no text, and not shown."}):answer.text?i("pre",{class:"answer",tabIndex:0,children:plain2(answer.text)}):
i("p",{children:"There is no body."}),answer.isCut&&i("small",{children:"The rest of the body is not shown."})]})}var labelled=(name,isRequired)=>`${name}${isRequired?
" *":""}`;function Input({document,name,place:place2,schema,isRequired,value,change}){let{words:words2}=shapeOf(document,schema),type=typeOf(document,schema),options=list(
words2.enum).length>0?list(words2.enum).slice(0,100).map(written):type==="boolean"?["true","false"]:[],what=[place2,kind(document,schema).slice(0,80)].filter(Boolean).
join(", "),own={required:isRequired,value,class:"mono",spellcheck:!1},typed=event=>change(event.currentTarget.value);return i(Field,{label:labelled(name,isRequired),
hint:type==="array"?`${what}; one a line`:type==="object"?`${what}; JSON`:what,children:options.length>0&&type!=="array"?i("select",{required:isRequired,value,onChange:typed,
children:[(!isRequired||!value)&&i("option",{value:"",children:isRequired?"":"not sent"}),value&&!options.includes(value)&&i("option",{children:value}),options.
map(one=>i("option",{children:one},one))]}):type==="array"||type==="object"?i("textarea",{rows:2,...own,onInput:typed}):i("input",{...own,inputMode:type==="inte\
ger"?"numeric":type==="number"?"decimal":void 0,onInput:typed})})}function TryQuery({api,caller}){let[query,setQuery]=w(`{
  __typename
}`),[variables,setVariables]=w(""),prepared=secret=>{let values;try{values=variables.trim()?JSON.parse(variables):void 0}catch{throw new Error("The variables mu\
st be JSON.")}let content=JSON.stringify({query,...values!==void 0&&{variables:values}}),own=prepare({},api,"post","/",[],secret);return{...own,url:base(api),headers:[
...own.headers,["Content-Type","application/json"]],body:content,curl:[`--data-raw ${shell(content)}`]}};return i(CallForm,{api,caller,secret:keyOf(caller.value),
prepared,children:[i(Field,{label:"Query",children:i("textarea",{class:"mono",spellcheck:!1,rows:8,required:!0,value:query,onInput:event=>setQuery(event.currentTarget.
value)})}),i(Field,{label:"Variables",hint:'JSON, such as { "id": 7 }; may be empty',children:i("textarea",{class:"mono",spellcheck:!1,rows:3,value:variables,onInput:event=>setVariables(
event.currentTarget.value)})})]})}var DESCRIPTION_MAX=5e4;function OperationPanel({isOpen,wanted,...shown}){let{operation:{method,path,value,place:place2}}=shown,title=i($,{children:[i(Badge,{tone:value.
deprecated===!0?"warn":"accent",children:method.toUpperCase()})," ",i("code",{children:path})," ",i("small",{children:[summaryOf(value),value.deprecated===!0&&"\
 (deprecated)"]})]});return i(WantedPanel,{isOpen,wanted,mark:{"data-place":place2},title,children:()=>i(Contents,{...shown})})}function Contents({document,api,
operation,caller}){let{value,parameters}=operation,body=object(resolved(document,value.requestBody)),needs=securityOf(document,operation);return i("div",{class:"\
body stack",children:[i(Words,{most:DESCRIPTION_MAX,children:value.description}),(text(value.operationId)||needs.length>0)&&i("p",{children:i("small",{children:[
text(value.operationId)&&i($,{children:["Called ",i("code",{children:text(value.operationId)}),". "]}),needs.length>0&&i($,{children:["Its document asks for: ",
needs.join(", or "),"."]})]})}),parameters.length>0&&i(Table,{name:"Parameters",heads:["Parameter","In","Type","Meaning"],children:parameters.map((one,index)=>i(
"tr",{children:[i("th",{scope:"row",children:[i("code",{children:text(one?.name)}),one?.required===!0&&" *",one?.deprecated===!0&&i($,{children:[" ",i(Badge,{tone:"\
warn",children:"deprecated"})]})]}),i("td",{children:text(one?.in)}),i(Type,{document,value:one}),i("td",{children:i(Words,{children:one?.description})})]},index))}),
members(body.content).length>0&&i(Folded,{title:`Body${body.required===!0?" *":""}: ${members(body.content).map(([type])=>type).join(", ")}`,children:()=>i("div",
{class:"stack",children:[i(Words,{children:body.description}),i(Contained,{document,content:body.content,isRequest:!0})]})}),members(value.responses).map(([status,
given])=>{let answer=object(resolved(document,given));return i(Folded,{title:i($,{children:[i("code",{children:status})," ",text(answer.description).slice(0,200)]}),
children:()=>i(Response,{document,answer})},status)}),i(Callbacks,{document,callbacks:value.callbacks}),facts.value?.try_it&&operation.method!=="trace"&&i(Folded,
{title:i("strong",{children:"Try it"}),isKept:!0,children:()=>i(TryOperation,{document,api,operation,caller})})]})}function Table({name,heads,children}){return i(
"div",{class:"scroll-x",tabIndex:0,role:"group","aria-label":name,children:i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:heads.map(head=>i(
"th",{scope:"col",children:head},head))})}),i("tbody",{children})]})})}function Type({document,value}){let schema=value?.schema??object(members(value?.content)[0]?.[1]).
schema;return i("td",{children:[kind(document,schema),limits(document,schema).map((one,index)=>i("span",{children:[" ",i("small",{class:"limit",children:one})]},
index))]})}function Response({document,answer}){let headers=members(answer.headers),links=members(answer.links);return i("div",{class:"stack",children:[text(answer.
description).length>200&&i(Words,{children:answer.description}),headers.length>0&&i(Table,{name:"Headers of the response",heads:["Header","Type","Meaning"],children:headers.
map(([name,given])=>{let header2=object(resolved(document,given));return i("tr",{children:[i("th",{scope:"row",children:[i("code",{children:name}),header2.required===
!0&&" *"]}),i(Type,{document,value:header2}),i("td",{children:i(Words,{children:header2.description})})]},name)})}),members(answer.content).length>0?i(Contained,
{document,content:answer.content}):i("p",{children:"No body."}),links.length>0&&i("p",{children:["Leads to: ",links.map(([name,given])=>`${name} ${text(object(resolved(
document,given)).operationId)}`.trim()).join(", "),"."]})]})}function Contained({document,content,isRequest=!1}){let budget={left:1e3};return i($,{children:members(
content).map(([type,media])=>i("div",{class:"stack",children:[i("p",{children:i("strong",{children:type})}),object(media).schema!==void 0&&i(Schema,{document,schema:object(
media).schema,budget}),(object(media).schema!==void 0||object(media).example!==void 0||object(media).examples!==void 0)&&i(Folded,{title:"Examples",children:()=>examplesOf(
document,media,isRequest).map((one,index)=>i("div",{children:[i("p",{children:one.title}),i("pre",{class:"answer",tabIndex:0,children:one.text})]},index))})]},type))})}
function Callbacks({document,callbacks}){let named3=members(callbacks);return named3.length===0?null:i("div",{children:[i("p",{children:i("strong",{children:"Ca\
lls back"})}),i("ul",{class:"schema-members",children:named3.map(([name,given])=>i("li",{children:[i("code",{children:name}),operationsOf(document,resolved(document,
given)).map(one=>i("div",{children:i("small",{children:[one.method.toUpperCase()," ",i("code",{children:one.path})," ",summaryOf(one.value)]})},one.place))]},name))})]})}
function Webhook({document,operation:{method,path,value}}){let body=object(resolved(document,value.requestBody));return i(Folded,{title:i($,{children:[i(Badge,{
tone:"muted",children:method.toUpperCase()})," ",i("code",{children:path})," ",summaryOf(value)]}),children:()=>i("div",{class:"stack",children:[i(Words,{most:DESCRIPTION_MAX,
children:value.description}),members(body.content).length>0&&i(Contained,{document,content:body.content})]})})}var LEGACY="2025-11-25",MODERN="2026-07-28",META="io.modelcontextprotocol/",CLIENT={name:"tollgate-console",version:"1"},ANSWER_BYTES=1<<20,PAGES_MAX=10,Refused=class extends Error{constructor(exchange){
super(exchange.fault||`It answered ${exchange.tried.status}.`);this.exchange=exchange}exchange};var McpClient=class{constructor(transport){this.transport=transport}transport;session=null;version=null;ids=0;async ask(method,params,name){return this.version||
await this.begin(),this.send(method,params,name)}async list(method,member){let entries=[],cursor;for(let page=0;page<PAGES_MAX;page+=1){let exchange=await this.
ask(method,cursor===void 0?{}:{cursor:JSON.stringify(cursor)});if(exchange.message?.error?.code===-32601)return entries;if(!exchange.message?.result)throw new Refused(
exchange);let found=exchange.message.result[member];if(Array.isArray(found))for(let one of found)one&&typeof one=="object"&&entries.push(one);if(cursor=exchange.
message.result.nextCursor??void 0,cursor===void 0)break}return entries}end(){this.session&&this.post("DELETE","",{}).catch(()=>{}),this.session=this.version=null}async begin(){
let params={protocolVersion:`"${LEGACY}"`,capabilities:"{}",clientInfo:JSON.stringify(CLIENT)},begun=await this.send("initialize",params);if(begun.message?.result){
this.session=header(begun.tried,"mcp-session-id"),this.version=String(begun.message.result.protocolVersion??LEGACY),await this.post("POST",'{"jsonrpc":"2.0","me\
thod":"notifications/initialized"}',{});return}if(begun.tried.steps.some(step=>step.decision==="refuse")||!begun.tried.upstream?.status)throw new Refused(begun);
if(this.version=MODERN,!(await this.send("server/discover",{})).message?.result)throw this.version=null,new Refused(begun)}async send(method,params,name){let id=++this.
ids,lines={},members2={...params};this.version===MODERN&&(members2._meta=JSON.stringify({[`${META}protocolVersion`]:MODERN,[`${META}clientInfo`]:CLIENT,[`${META}\
clientCapabilities`]:{}}),lines["Mcp-Method"]=method,name!==void 0&&(lines["Mcp-Name"]=encoded(name)));let written2=Object.entries(members2).map(([member,text2])=>`${JSON.
stringify(member)}:${text2}`).join(","),tried=await this.post("POST",`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":{${written2}}}`,lines);
return{tried,...read2(tried,id)}}post(method,body,lines){let headers={Accept:"application/json, text/event-stream",...lines};return body&&(headers["Content-Type"]=
"application/json"),this.session&&(headers["Mcp-Session-Id"]=this.session),this.version&&(headers["MCP-Protocol-Version"]=this.version),this.transport(method,body,
headers)}};function header(tried,name){return tried.headers.find(([own])=>own.toLowerCase()===name)?.[1]??null}function encoded(text2){return/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.
test(text2)&&!text2.startsWith("=?base64?")?text2:`=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text2)))}?=`}function read2(tried,id){if(tried.
body_truncated)return{message:null,fault:"The answer is longer than can be shown here."};let texts=(header(tried,"content-type")??"").startsWith("text/event-str\
eam")?events(tried.body):[tried.body];for(let text2 of texts)try{let message=JSON.parse(text2);if(message?.id===id||message?.error&&texts.length===1)return{message,
fault:message.error?String(message.error.message??""):""}}catch{}return{message:null,fault:tried.body.trim()?"The answer is no message of the protocol.":"There \
is no answer."}}function events(text2){return text2.split(/\r?\n\r?\n/).map(event=>event.split(/\r?\n/).filter(line2=>line2.startsWith("data:")).map(line2=>line2.
slice(5).replace(/^ /,"")).join(`
`)).filter(Boolean)}var SERVERS_MAX=20,TOOLS_MAX=200,TEXT_MAX=4e3,REFUSALS=[401,403,429];function Tools({api,caller}){let{product}=caller.value,told2=toldTools.value.find(one=>one.
product===product&&one.api.id===api.id)??null,wanted=route.value.query.get("tool"),[failure,setFailure]=w(null),[busy,setBusy]=w(!1),list2=async event=>{event.preventDefault(),
setBusy(!0),setFailure(null);let others=toldTools.value.filter(one=>one!==told2).slice(-SERVERS_MAX);toldTools.value=others;let client=new McpClient(toApi(api,keyOf(
caller.value)));try{let found=await client.list("tools/list","tools");toldTools.value=[...others,{product,api,tools:found.slice(0,TOOLS_MAX).map(tool),more:found.
length>TOOLS_MAX}]}catch(failed){setFailure(failed.message)}finally{client.end(),setBusy(!1)}};return i(Panel,{title:"Tools",children:[i("form",{class:"body row",
onSubmit:event=>{list2(event)},children:[i(KeyField,{api,caller}),i(Button,{type:"submit",kind:"primary",disabled:busy,children:"List its tools"})]}),i("div",{class:"\
body stack",role:"status",children:[failure!==null&&i(ErrorBox,{failure}),told2?.tools.length===0&&i("p",{children:"It offers no tools to this caller."}),told2?.
more&&i(Note,{tone:"warn",icon:"alert",children:["The first ",TOOLS_MAX," tools are shown."]}),told2?.tools.map((one,index)=>i(Folded,{isWanted:one.name===wanted,
title:i($,{children:[i("code",{children:i(Text,{children:one.name})})," ",i(Text,{children:one.title})]}),children:()=>i($,{children:[i("p",{class:"as-written",
children:one.description}),i(Schema,{document:one.schema,schema:one.schema})]})},index))]})]})}function tool(value){let text2=one=>typeof one=="string"?one.slice(
0,TEXT_MAX):"";return{name:text2(value.name),title:text2(value.title),description:text2(value.description),schema:value.inputSchema}}function toApi(api,key){return async(method,body,lines)=>{
let headers={...lines,...Object.fromEntries(keyHeaders(api,key))},response;try{response=await fetch(base(api),{method,headers,...body&&{body},credentials:"omit",
referrerPolicy:"no-referrer",redirect:"error",cache:"no-store",signal:AbortSignal.timeout(ANSWER_MS_MAX)})}catch{throw new Error(unreached(base(api)))}let{text:text2,
isCut}=await beginning(response,ANSWER_BYTES);if(REFUSALS.includes(response.status))throw new Error(`The gateway answered with status ${response.status}: ${reason(
text2)}`);return{status:response.status,headers:[...response.headers],body:text2,body_truncated:isCut,steps:[],upstream:{status:response.status}}}}function reason(body){
try{let said=JSON.parse(body),text2=said.error?.message??said.error??said.message;if(typeof text2=="string")return text2.slice(0,300)}catch{}return"it says no r\
eason."}var OPEN_MAX=10,TAG_WORDS_MAX=5e3;function ApiDocument({product,api:id}){let found=useLoaded(()=>get(`products/${segment(product)}/apis/${segment(id)}`),[product,
id]),caller=b(()=>D({product,chosen:null,pasted:""}),[product,id]);if(found.failure)return i(ErrorBox,{failure:found.failure,retry:found.again});if(!found.value)
return null;let{api,document}=found.value;return i($,{children:[i("p",{class:"crumbs",children:i("a",{href:link(["products",product]),children:"Product"})}),i("\
div",{class:"page-head",children:i("h1",{children:api.name})}),i("p",{class:"lead",children:i("code",{children:base(api)})}),api.key_header&&i("p",{class:"needs",
children:["Calls need ",api.token_path?"an access token":"a key"," in the header ",i("code",{children:api.key_header}),"."]}),api.kind==="graphql"&&typeof document==
"string"&&i($,{children:[facts.value?.try_it&&i(Panel,{title:"Query",children:i("div",{class:"body",children:i(TryQuery,{api,caller})})}),i(GraphqlReference,{text:document,
at:[product,id]})]}),document&&typeof document=="object"&&i(Operations,{document,api,caller,at:[product,id]}),api.kind==="mcp"&&i($,{children:[i("p",{children:"\
Connect a client of the Model Context Protocol to this address."}),facts.value?.try_it&&i(Tools,{api,caller})]}),!document&&api.kind!=="mcp"&&i(Empty,{title:"Th\
is API has no documentation"}),!document&&i("p",{children:i(LinkButton,{href:link(["products",product]),children:"Plans"})})]})}function Operations({document,api,
caller,at:[product,id]}){let{operations,webhooks,tags}=b(()=>{let operations2=operationsOf(document,document.paths);return{operations:operations2,webhooks:operationsOf(
document,document.webhooks),tags:tagsOf(document,operations2)}},[document]),[words2,setWords]=w(""),[turn,setTurn]=w(0),wanted=route.value.query.get("op"),looked=words2.
toLowerCase().split(/\s+/).filter(Boolean),seen=tags.map(tag=>({...tag,operations:tag.operations.filter(one=>has(one,looked))})).filter(tag=>tag.operations.length>
0),info=object(document.info),more=safe(text(object(document.externalDocs).url));return i("div",{class:"with-contents",children:[i("nav",{class:"contents","aria\
-label":"Operations",children:[operations.length>1&&i(Field,{label:"Find an operation",children:i("input",{type:"search",value:words2,onInput:event=>setWords(event.
currentTarget.value)})}),seen.map(tag=>i("div",{children:[tags.length>1&&i("strong",{children:tag.name||"Others"}),i("ul",{children:tag.operations.map(one=>i("l\
i",{children:i("a",{href:link(["products",product,"apis",id],{op:one.place}),"aria-current":wanted===one.place?"true":void 0,onClick:()=>setTurn(turn+1),children:[
i("small",{children:one.method.toUpperCase()})," ",summaryOf(one.value)||one.path]})},one.place))})]},tag.name)),seen.length===0&&operations.length>0&&i("p",{role:"\
status",children:"No operation has these words."})]}),i("div",{children:[i(Panel,{class:"prose",children:[i("p",{children:[i("strong",{children:text(info.title).
slice(0,TAG_WORDS_MAX)}),text(info.version)&&i("small",{children:[" version ",text(info.version)]})]}),text(info.description)&&i(Markdown,{text:text(info.description)}),
more&&i("p",{children:i("a",{href:more,rel:"noreferrer",children:text(object(document.externalDocs).description)||"More about it"})})]}),seen.map(tag=>i("sectio\
n",{children:[i("h2",{class:"tag",children:tag.name||(tags.length>1?"Others":"Operations")}),i(Words,{most:TAG_WORDS_MAX,children:tag.description}),tag.operations.
map(one=>i(OperationPanel,{document,api,operation:one,caller,isOpen:operations.length<=OPEN_MAX,wanted:wanted===one.place?turn:null},one.place))]},tag.name)),operations.
length===0&&i(Empty,{title:"Its document has no operations"}),webhooks.length>0&&i(Panel,{title:"Webhooks",children:i("div",{class:"body stack",children:[i("p",
{children:"Calls that the API makes."}),webhooks.map(one=>i(Webhook,{document,operation:one},one.place))]})})]})]})}function GuidePage({id}){let found=useLoaded(()=>get(`pages/${segment(id)}`),[id]);return found.failure?i(ErrorBox,{failure:found.failure,retry:found.again}):found.
value?i($,{children:[i("h1",{class:"page",children:found.value.title}),i(Panel,{class:"prose",children:i(Markdown,{text:found.value.text})})]}):null}var named2=new Intl.DateTimeFormat("en-US",{month:"long",year:"numeric",timeZone:"UTC"}),monthName=month=>named2.format(new Date(`${month}-01T00:00:00Z`)),thisMonth=()=>new Date().
toISOString().slice(0,7);function Invoices({months,invoice,csv}){let all=useLoaded(months,[]),[chosen2,setChosen]=w(""),month=chosen2||all.value?.[0]||"",found=useLoaded(
()=>month?invoice(month):Promise.resolve(null),[month]);if(all.failure)return i("div",{class:"body",children:i(ErrorBox,{failure:all.failure,retry:all.again})});
if(all.value?.length===0)return i(Empty,{title:"There are no invoices yet",children:"They begin with the first plan that has a price."});let save=async()=>{try{
saveFile(`invoice-${month}.csv`,await get(csv(month)))}catch(failure){say("bad",failure.message)}};return i($,{children:[i("div",{class:"body row low",children:[
i("label",{class:"row",children:["Month ",i("select",{value:month,onChange:event=>setChosen(event.currentTarget.value),children:all.value?.map(one=>i("option",{
value:one,children:monthName(one)},one))})]}),i(Button,{icon:"download",disabled:!found.value,onClick:()=>{save()},children:"CSV"})]}),found.failure?i("div",{class:"\
body",children:i(ErrorBox,{failure:found.failure,retry:found.again})}):null,found.value&&i(InvoiceLines,{invoice:found.value})]})}function InvoiceLines({invoice}){
let sums=Object.entries(invoice.sums);return i($,{children:[i("div",{class:"scroll-x invoice",tabIndex:0,role:"region","aria-label":`Invoice of ${monthName(invoice.
month)}`,children:i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Application"}),i("th",{scope:"col",children:"\
Product"}),i("th",{scope:"col",children:"Plan"}),i("th",{scope:"col",class:"number",children:"Calls"}),i("th",{scope:"col",class:"number",children:"Free"}),i("t\
h",{scope:"col",class:"number",children:"A call"}),i("th",{scope:"col",class:"number",children:"A month"}),i("th",{scope:"col",class:"number",children:"Sum"})]})}),
i("tbody",{children:invoice.lines.map((line2,index)=>i("tr",{children:[i("th",{scope:"row",children:i(Text,{children:line2.application})}),i("td",{children:i(Text,
{children:line2.product})}),i("td",{children:i(Text,{children:line2.plan})}),i("td",{class:"number",children:count(line2.calls)}),i("td",{class:"number",children:count(
line2.free_calls)}),i("td",{class:"number",children:line2.per_call}),i("td",{class:"number",children:line2.per_month}),i("td",{class:"number",children:[line2.sum,
" ",line2.currency]})]},index))}),invoice.lines.length>1&&i("tfoot",{children:sums.map(([currency,sum])=>i("tr",{children:[i("th",{scope:"row",colSpan:7,children:"\
Together"}),i("td",{class:"number",children:i("strong",{children:[sum," ",currency]})})]},currency))})]})}),i("div",{class:"body",children:i("small",{children:[
"Calls with a status below 400, until ",invoice.counted_unix_s>0?full(invoice.counted_unix_s):"now",". Months are those of UTC."]})})]})}var place=team=>`teams/${segment(team)}/invoices`;function InvoicesPage(){let found=useLoaded(()=>get("teams"),[developer.value?.id]);return found.failure?i(ErrorBox,
{failure:found.failure,retry:found.again}):i($,{children:[i("h1",{class:"page",children:"Invoices"}),found.value?.teams.map(team=>i(Panel,{title:team.name,children:i(
Invoices,{months:async()=>(await get(place(team.id))).months,invoice:month=>get(`${place(team.id)}/${month}`),csv:month=>`${place(team.id)}/${month}/csv`})},team.
id))]})}function Costs({application}){let found=useLoaded(()=>get(`${place(application.team)}/${thisMonth()}`),[application.id]);if(found.failure)return i(ErrorBox,
{failure:found.failure,retry:found.again});let lines=found.value?.lines.filter(line2=>line2.application_id===application.id)??[];return!found.value||lines.length===
0?null:i(Panel,{title:"Costs",note:"this month until now",children:i(InvoiceLines,{invoice:{...found.value,lines,sums:{}}})})}var AROUND=80,HITS_MAX=50;function Search(){let[words2,setWords]=w(""),found=useLoaded(async()=>{let[products,index,pages]=await Promise.all([get("products"),get(
"search"),get("pages")]);return{products:products.products,index:index.products,pages:pages.pages}},[developer.value?.id]),entries=b(()=>found.value?[...entriesOf(
found.value),...toldTools.value.flatMap(tools)]:[],[found.value,toldTools.value]);if(found.failure)return i(ErrorBox,{failure:found.failure,retry:found.again});
let wanted=words2.toLowerCase().split(/\s+/).filter(Boolean),hits=wanted.length===0?[]:entries.filter(one=>wanted.every(word=>one.all.includes(word)));return i(
$,{children:[i("h1",{class:"page",children:"Search"}),i(Field,{label:"Words",children:i("input",{type:"search",autofocus:!0,value:words2,onInput:event=>setWords(
event.currentTarget.value)})}),i("p",{role:"status",class:hits.length>HITS_MAX?"":"sr",children:wanted.length?`${hits.length} found${hits.length>HITS_MAX?`; the\
 first ${HITS_MAX} are shown`:""}`:""}),wanted.length>0&&hits.length===0&&found.value&&i(Empty,{icon:"search",title:"Nothing found"}),i("ul",{class:"cards",children:hits.
slice(0,HITS_MAX).map((hit,index)=>i("li",{class:"panel card",children:[i("h2",{children:i("a",{href:hit.to,children:visible(hit.title)})}),i("p",{children:[i(Badge,
{tone:"muted",children:hit.kind})," ",around(hit.text,wanted)]})]},index))})]})}var entry=(kind2,to,title,text2,more="")=>({kind:kind2,to,title,text:text2,all:`${title}\
 ${text2} ${more}`.toLowerCase()});function tools({product,api,tools:tools2}){return tools2.map(one=>entry("Tool",link(["products",product,"apis",api.id],{tool:one.
name}),one.name,[one.title,one.description].filter(Boolean).join(" – "),api.name))}function entriesOf({products,index,pages}){return[...products.map(one=>entry(
"Product",link(["products",one.id]),one.name,[one.summary,plain(index.find(other=>other.id===one.id)?.description??"")].filter(Boolean).join(" "),one.apis.map(api=>`${api.
name} ${api.listen_path}`).join(" "))),...pages.map(one=>entry("Page",link(["pages",one.id]),one.title,plain(one.text))),...index.flatMap(product=>{let{name=product.
id,apis=[]}=products.find(one=>one.id===product.id)??{};return product.apis.flatMap(api=>{let place2=["products",product.id,"apis",api.id],own=apis.find(one=>one.
id===api.id)?.name??api.id,of=own===name?name:`${own}, ${name}`;return[...api.operations.map(one=>entry("Operation",link(place2,{op:`${one.method} ${one.path}`}),
`${one.method.toUpperCase()} ${one.path}`,[one.summary,of].filter(Boolean).join(" – "),one.operation_id)),...api.fields.map(one=>entry("Field",link(place2,{type:one.
split(".")[0]}),one,of))]})})]}function around(text2,words2){let first=words2.map(word=>text2.toLowerCase().indexOf(word)).filter(at2=>at2>=0).sort((a,b2)=>a-b2)[0]??
0,from=Math.max(0,first-AROUND);return`${from>0?"…":""}${text2.slice(from,from+2*AROUND)}${from+2*AROUND<text2.length?"…":""}`}function Teams(){let found=useLoaded(()=>get("teams"),[developer.value?.id]),[asked,setAsked]=w(null);if(found.failure)return i(ErrorBox,{failure:found.failure,
retry:found.again});let run=async work=>{try{await work(),found.again(),await load()}catch(failure){say("bad",failure.message)}};return i($,{children:[i("div",{
class:"page-head",children:[i("h1",{children:"Teams"}),i(Button,{icon:"plus",onClick:()=>setAsked("new"),children:"New team"})]}),found.value?.teams.map(team=>i(
Panel,{title:team.name,actions:team.role==="owner"&&i(Button,{icon:"plus",onClick:()=>setAsked(team),children:"Invite"}),children:i("ul",{class:"body rows",children:team.
members.map(member=>i("li",{children:[i("div",{children:[i("strong",{children:i("bdi",{children:member.name})}),i("small",{children:member.mail})]}),i(Badge,{tone:"\
muted",children:member.role}),(team.role==="owner"||member.id===developer.value?.id)&&team.members.length>1&&i(Button,{kind:"quiet",icon:"trash","aria-label":`R\
emove ${member.name} from ${team.name}`,onClick:()=>{confirm(`Remove ${member.name} from ${team.name}?`)&&run(()=>call("DELETE",`teams/${team.id}/members/${member.
id}`))}})]},member.id))})},team.id)),asked&&i(Form,{team:asked,close:()=>setAsked(null),run})]})}function Form({team,close,run}){let send2=event=>{event.preventDefault();
let form=new FormData(event.currentTarget),text2=name=>String(form.get(name)??"");run(async()=>{team==="new"?await call("POST","teams",{name:text2("name")}):(await call(
"POST",`teams/${team.id}/invitations`,{mail:text2("mail"),role:text2("role")}),say("ok","The invitation is on its way.")),close()})};return i(Dialog,{title:team===
"new"?"New team":`Invite to ${team.name}`,close,children:i("form",{class:"stack",onSubmit:send2,children:[team==="new"?i(Field,{label:"Name",children:i("input",
{name:"name",maxLength:100,required:!0,autofocus:!0})}):i($,{children:[i(Field,{label:"Mail address",children:i("input",{name:"mail",type:"email",required:!0,autofocus:!0})}),
i(Field,{label:"Role",children:i("select",{name:"role",children:[i("option",{value:"member",children:"member"}),i("option",{value:"owner",children:"owner"})]})})]}),
i("p",{class:"row end",children:i(Button,{type:"submit",kind:"primary",children:team==="new"?"Create":"Invite"})})]})})}export{ApiDocument,Costs,GuidePage,InvoicesPage,Markdown,Search,Teams};
