import{$,Ago,Badge,Button,Copy,Dialog,Empty,ErrorBox,Fact,Facts,Failure,Field,Filter,Icon,KeyTable,LatencyPlot,LinkButton,Meter,Note,Panel,Plot,S,SPANS,Table,Text,
TrafficPlot,U,UNKNOWN,UNROUTED,UsageOf,adopt,ago,apis,ask,b,bytes,call,capital,clock,copy,count,dark,date,duration,ends,full,gateways,get,go,guard,here,highest,
hour,i,isScoped,latest,limit,link,listKeys,may,moment,narrow,now,outcome,percent,percentile,query,rate,refine,reread,route,saveFile,say,scopeText,segment,session,
short,span,state,tick,token,usd,useList,useLoaded,visible,w}from"./chunk.js";function read(text){let at=0,fail=message=>{throw{at,message}},space=()=>{for(;at<text.length&&/[ \t\r\n]/.test(text[at]);)at+=1},string=()=>{let from=at;for(at+=
1;at<text.length&&text[at]!=='"';)text[at]<" "&&fail("a control character or the end of the line stands inside a text; a quote may be missing"),at+=text[at]==="\
\\"?2:1;at>=text.length&&fail("a text does not end"),at+=1;try{return JSON.parse(text.slice(from,at))}catch{return at=from,fail("a text has an unknown escape")}},
value=depth=>{space();let from=at,first=text[at];if(depth>200&&fail("the document is nested too deeply"),first==="{"){let members=[];if(at+=1,space(),text[at]===
"}")return at+=1,{kind:"object",from,to:at,members};for(;;){space();let start=at;text[at]!=='"'&&fail("a name in quotes is expected here");let name=string();if(space(),
text[at]!==":"&&fail("a colon is missing"),at+=1,members.push({name,from:start,value:value(depth+1)}),space(),text[at]===","){at+=1;continue}if(text[at]==="}")return at+=
1,{kind:"object",from,to:at,members};fail(at>=text.length?"a closing brace is missing":"a comma or a closing brace is missing")}}if(first==="["){let items=[];if(at+=
1,space(),text[at]==="]")return at+=1,{kind:"array",from,to:at,items};for(;;){if(items.push(value(depth+1)),space(),text[at]===","){at+=1;continue}if(text[at]===
"]")return at+=1,{kind:"array",from,to:at,items};fail(at>=text.length?"a closing bracket is missing":"a comma or a closing bracket is missing")}}if(first==='"')
return string(),{kind:"value",from,to:at};let word=/^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)/.exec(text.slice(at,at+400))?.[0];return word||fail(
at>=text.length?"the document ends too early":"a value is expected here"),at+=word.length,{kind:"value",from,to:at}};try{let root=value(0);return space(),at<text.
length?{at,message:"something follows the end of the document"}:root}catch(fault2){if(typeof fault2=="object"&&fault2&&"at"in fault2)return fault2;throw fault2}}
function layout(text){let depth=0,result="",line=()=>`
${"  ".repeat(depth)}`;for(let[token2]of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g))token2==="{"||token2==="["?(depth+=1,result+=token2+line()):
token2==="}"||token2==="]"?(depth-=1,result=/[{[]\s*$/.test(result)?result.trimEnd()+token2:result+line()+token2):token2===","?result+=token2+line():result+=token2===
":"?": ":token2;return`${result}
`}function textAt(text,path){let root=read(text);if(isFault(root))return"";let{node,whole}=find(root,path);return whole?text.slice(node.from,node.to):""}var isFault=found2=>!("\
kind"in found2);function steps(path){let found2=[];for(let[,name,quoted,index]of path.matchAll(/\.([^.[\]]+)|\[["']((?:[^"'\\]|\\.)*)["']\]|\[(\d+)\]/g))found2.
push(index!==void 0?Number(index):quoted??name);return found2}function find(root,path){let node=root,nameFrom;for(let step of path){let member=typeof step=="str\
ing"||node.kind==="object"?node.members?.find(one=>one.name===String(step)):void 0,next=member?.value??(typeof step=="number"?node.items?.[step]:void 0);if(!next)
return{node,nameFrom,whole:!1};[node,nameFrom]=[next,member?.from]}return{node,nameFrom,whole:!0}}function place(text,at){let before=text.slice(0,at);return{line:before.
split(`
`).length,column:at-before.lastIndexOf(`
`)}}function set(text,path,value){let root=read(text);if(isFault(root))return text;let{node,nameFrom,whole}=find(root,path);if(whole&&value===void 0)return remove(
text,root,path,nameFrom??node.from,node.to);if(whole)return text.slice(0,node.from)+written(value,indent(text,nameFrom??node.from))+text.slice(node.to);if(value===
void 0)return text;let depth=0,parent=root;for(;depth<path.length;depth+=1){let step=path[depth],next=typeof step=="number"?parent.items?.[step]:parent.members?.
find(one=>one.name===step)?.value;if(!next)break;parent=next}if(parent.kind!=="object")return text;let nested=path.slice(depth+1).reduceRight((inner2,name)=>({[name]:inner2}),
value),inner=`${indent(text,parent.from)}  `,member=`${JSON.stringify(path[depth])}: ${written(nested,inner)}`,last2=parent.members?.at(-1);if(!last2)return`${text.
slice(0,parent.from)}{
${inner}${member}
${indent(text,parent.from)}}${text.slice(parent.to)}`;let gap=text.slice(parent.from+1,parent.members[0].from);return`${text.slice(0,last2.value.to)},${gap.includes(
`
`)?gap:" "}${member}${text.slice(last2.value.to)}`}function remove(text,root,path,from,to){let parent=find(root,path.slice(0,-1)).node,index=parent.members?.findIndex(
one=>one.name===path.at(-1))??-1;if(index<0)return text;let next=parent.members[index+1],before=parent.members[index-1];return next?text.slice(0,from)+text.slice(
next.from):before?text.slice(0,before.value.to)+text.slice(to):text.slice(0,parent.from+1)+text.slice(parent.to-1)}function indent(text,at){return/^[ \t]*/.exec(
text.slice(text.lastIndexOf(`
`,at-1)+1))?.[0]??""}function written(value,indentation){return JSON.stringify(value,null,2).replaceAll(`
`,`
${indentation}`)}function valueAt(text,path){let root=read(text);if(isFault(root))return;let{node,whole}=find(root,path);if(whole)try{return JSON.parse(text.slice(
node.from,node.to))}catch{return}}function lines(old,now2){let a=old.split(`
`),b2=now2.split(`
`),head=0,tail=0;for(;head<a.length&&head<b2.length&&a[head]===b2[head];)head+=1;for(;tail<a.length-head&&tail<b2.length-head&&a[a.length-1-tail]===b2[b2.length-
1-tail];)tail+=1;let x=a.slice(head,a.length-tail),y=b2.slice(head,b2.length-tail),rows=a.slice(0,head).map(text=>({kind:"same",text}));if(x.length*y.length>4e6)
rows.push(...x.map(text=>({kind:"del",text})),...y.map(text=>({kind:"add",text})));else{let table=Array.from({length:x.length+1},()=>new Uint16Array(y.length+1));
for(let i2=x.length-1;i2>=0;i2-=1)for(let j=y.length-1;j>=0;j-=1)table[i2][j]=x[i2]===y[j]?table[i2+1][j+1]+1:Math.max(table[i2+1][j],table[i2][j+1]);for(let i2=0,
j=0;i2<x.length||j<y.length;)i2<x.length&&j<y.length&&x[i2]===y[j]?(rows.push({kind:"same",text:x[i2]}),i2+=1,j+=1):j>=y.length||i2<x.length&&table[i2+1][j]>=table[i2][j+
1]?rows.push({kind:"del",text:x[i2++]}):rows.push({kind:"add",text:y[j++]})}rows.push(...a.slice(a.length-tail).map(text=>({kind:"same",text})));let near=rows.map(
(_,at)=>rows.slice(Math.max(0,at-3),at+4).some(row2=>row2.kind!=="same"));return rows.flatMap((row2,at)=>near[at]?[row2]:near[at-1]||at===0?[{kind:"skip",text:"\
..."}]:[])}var FILE="./editor.js",loaded=null;function Code(props){let host=U(null),editor=U(null),current=U(props);current.current=props;let[failure,setFailure]=w(null),[
ready,setReady]=w(!1);return S(()=>{let gone=!1;return loaded??=import(FILE),loaded.then(code=>{gone||!host.current||(editor.current=code.open(host.current,{text:current.
current.text,label:props.label,readOnly:props.readOnly??!1,colour:token,change:text=>current.current.change(text),undo:()=>current.current.undo(),redo:()=>current.
current.redo(),save:()=>current.current.save()}),editor.current.problems(current.current.problems),setReady(!0))}).catch(error=>{loaded=null,setFailure(error)}),
()=>{gone=!0,editor.current?.end(),editor.current=null}},[]),S(()=>{editor.current?.set(props.text)},[props.text,ready]),S(()=>{editor.current?.problems(props.problems)},
[props.problems,ready]),S(()=>{editor.current?.theme()},[dark.value,ready]),S(()=>{props.reveal&&editor.current?.reveal(props.reveal.at)},[props.reveal,ready]),
failure?i($,{children:[i(ErrorBox,{failure:"The editor could not be loaded. The text can be changed here without it."}),i("textarea",{"aria-label":props.label,rows:24,
value:props.text,readOnly:props.readOnly,onInput:event=>props.change(event.currentTarget.value)})]}):i("div",{class:"code",ref:host})}var UNITS=[["tokens","tokens"],["prompt_tokens","prompt tokens"],["completion_tokens","completion tokens"],["cached_tokens","cached tokens"],["reasoning_tokens",
"reasoning tokens"],["usd","US dollars"],["requests","requests"]],PERIODS=["minute","hour","day","month"],NAME=/^[A-Za-z0-9_.-]{1,64}$/,amount=(value,unit)=>unit===
"usd"?usd(value):count(value),unitWords=unit=>unit==="usd"?"":`${UNITS.find(([id])=>id===unit)?.[1]??unit} `;function fault(budgets){let wrong=budgets.find(one=>!NAME.
test(one.name));if(wrong)return wrong.name?`“${visible(wrong.name)}” is no name: letters, digits, “-”, “_” and “.”`:"Each budget needs a name.";
let twice=budgets.find((one,at)=>budgets.findIndex(other=>other.name===one.name)!==at);if(twice)return`Two budgets are called “${twice.name}”.`;let none=budgets.
find(one=>!(one.max>0));return none?`“${none.name}” needs a number above 0.`:null}function BudgetForm({budgets,set:set2,readOnly,holders}){let change=(at,with_)=>set2(
budgets.map((one,index)=>index===at?{...one,...with_}:one));return i($,{children:[budgets.map((one,at)=>i("fieldset",{class:"field wide",disabled:readOnly,children:[
i("legend",{class:"sr",children:["Budget ",at+1]}),i("div",{class:"form",children:[i(Field,{label:"Name",children:i("input",{value:one.name,maxLength:64,onInput:event=>change(
at,{name:event.currentTarget.value})})}),i(Field,{label:"At most",children:i("input",{type:"number",min:0,step:"any",value:one.max>0?one.max:"",onInput:event=>change(
at,{max:Number(event.currentTarget.value)})})}),i(Field,{label:"Of",children:i("select",{value:one.unit??"tokens",onChange:event=>change(at,{unit:event.currentTarget.
value}),children:UNITS.map(([id,name])=>i("option",{value:id,children:name},id))})}),i(Field,{label:"In a",children:i("select",{value:one.per??"day",onChange:event=>change(
at,{per:event.currentTarget.value}),children:PERIODS.map(period=>i("option",{children:period},period))})}),holders&&i(Field,{label:"Whose",children:i("select",{
value:one.of??holders[0][0],onChange:event=>change(at,{of:event.currentTarget.value}),children:[...holders,...one.of&&!holders.some(([id])=>id===one.of)?[[one.of,
one.of]]:[]].map(([id,name])=>i("option",{value:id,children:visible(name)},id))})}),i("label",{class:"choice",children:[i("input",{type:"checkbox",checked:!!one.
soft,onChange:()=>change(at,{soft:one.soft?void 0:!0})}),"soft: answers that have begun may exceed it"]}),!readOnly&&i(Button,{icon:"trash",kind:"quiet","aria-l\
abel":`Remove budget ${at+1}`,onClick:()=>set2(budgets.filter((_,index)=>index!==at)),children:"Remove"})]})]},at)),budgets.length===0&&i("p",{class:"field wide",
children:"No budget of its own."}),!readOnly&&budgets.length<16&&i("div",{class:"wide",children:i(Button,{icon:"plus",onClick:()=>set2([...budgets,{name:"",max:0,
unit:"tokens",per:"month"}]),children:"Add a budget"})})]})}function KeyBudgets({path,own,can,save}){let[,id="",by=""]=/^keys\/([^?]*)\?(.*)$/.exec(path)??[],named2={
key:decodeURIComponent(id),...Object.fromEntries(new URLSearchParams(by))},loaded2=useLoaded(()=>get(`llm/budgets${query(named2)}`),[path,JSON.stringify(own)]),
[edited,setEdited]=w(null),[failure,setFailure]=w(null),rows=loaded2.value?.budgets??[],reset=async name=>{setFailure(null);try{await call("DELETE",`llm/budgets\
/${segment(name)}${query(named2)}`),say("ok","The budget begins anew."),loaded2.again()}catch(failed){setFailure(failed)}},wrong=edited&&fault(edited);return i(
Panel,{title:"Budgets of language models",class:"after",actions:can&&i(Button,{onClick:()=>setEdited(own),children:own.length?"Change its own":"Give it one"}),children:[
failure||loaded2.failure?i(ErrorBox,{failure:failure??loaded2.failure,retry:()=>{setFailure(null),loaded2.again()}}):null,rows.length===0?i("div",{class:"empty \
small",children:loaded2.value?"None: models may be used as far as its limits allow.":"Loading"}):i("div",{class:"scroll-x",tabIndex:0,children:i("table",{class:"\
plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Budget"}),!narrow.value&&i("th",{scope:"col",children:"Of"}),i("th",{scope:"\
col",class:"number",children:"Spent"}),i("th",{scope:"col",class:"number",children:"At most"}),i("th",{scope:"col",children:"Ends"}),can&&i("th",{scope:"col",children:i(
"span",{class:"sr",children:"Reset"})})]})}),i("tbody",{children:rows.map(one=>i("tr",{children:[i("th",{scope:"row",children:[i(Text,{children:one.name})," ",i(
"small",{children:[one.soft?"soft":"hard",", ",unitWords(one.unit),"a ",one.per]})]}),!narrow.value&&i("td",{children:holder(one)}),i("td",{class:`number ${one.
spent!=null&&one.spent>=one.max?"bad":""}`,children:one.spent==null?i("small",{title:"It depends on a claim of the request",children:UNKNOWN}):amount(one.spent,
one.unit)}),i("td",{class:"number",children:amount(one.max,one.unit)}),i("td",{children:one.ends?i(Ago,{at:one.ends}):UNKNOWN}),can&&i("td",{children:one.spent!=
null&&(one.of==="key"||!one.holder)&&i(Button,{kind:"quiet","aria-label":`Reset ${one.name}`,onClick:()=>{reset(one.name)},children:"Reset"})})]},`${one.of} ${one.
holder} ${one.name}`))})]})}),edited&&i(Dialog,{title:"Its own budgets",wide:!0,close:()=>setEdited(null),footer:i($,{children:[i("span",{children:wrong}),i(Button,
{onClick:()=>setEdited(null),children:"Cancel"}),i(Button,{kind:"primary",disabled:!!wrong,onClick:()=>{save(edited).then(()=>setEdited(null))},children:"Save"})]}),
children:[edited.length===0&&i(Empty,{title:"It has none of its own.",children:"Those of its policies, its organisation and the API hold all the same."}),i("div",
{class:"form",children:i(BudgetForm,{budgets:edited,set:setEdited})})]})]})}function holder({of:of2,holder:id}){if(!id)return"the key";let page=of2==="policy"||
of2==="key"?null:of2==="api"?link(["apis",id]):null;return i($,{children:[of2==="key"?"the key, by":of2," ",page?i("a",{href:page,children:i(Text,{children:id})}):
i(Text,{children:id})]})}var SECTIONS=[{title:"Basics",inputs:[{path:"name",name:"Name",kind:"text"},{path:"internal",name:"Only for other APIs (internal)",kind:"flag"},{path:"proxy.lis\
ten_path",name:"Listen path",kind:"mono"},{path:"domain",name:"Host",kind:"mono",placeholder:"any"},{path:"proxy.target_url",name:"Upstream",kind:"mono",wide:!0},
{path:"proxy.strip_listen_path",name:"Remove the listen path from requests",kind:"flag"},{path:"proxy.preserve_host_header",name:"Send the client's Host to the \
upstream",kind:"flag"}]},{title:"Several upstreams",inputs:[{path:"proxy.enable_load_balancing",name:"Spread requests over these",kind:"flag",wide:!0},{path:"pr\
oxy.target_list",name:"Targets, one a line",kind:"lines",wide:!0}]},{title:"Who may call",inputs:[{path:"use_keyless",name:"Everybody, without a key",kind:"flag"},
{path:"strip_auth_data",name:"Remove the credentials before the upstream",kind:"flag"},{path:"auth.auth_header_name",name:"Header with the key",kind:"mono",placeholder:"\
Authorization"},{path:"auth.use_param",name:"Accept the key as a parameter too",kind:"flag"},{path:"use_basic_auth",name:"Names and passwords",kind:"flag"},{path:"\
enable_jwt",name:"JSON Web Tokens",kind:"flag"},{path:"enable_signature_checking",name:"Signatures (HMAC)",kind:"flag"},{path:"use_oauth2",name:"OAuth 2.0",kind:"\
flag"},{path:"allowed_ips",name:"Only these addresses, one a line",kind:"lines"},{path:"enable_ip_whitelisting",name:"Accept only the addresses above",kind:"fla\
g"}]},{title:"Limits",inputs:[{path:"global_rate_limit.rate",name:"Requests of all callers together",kind:"number",placeholder:"no limit",min:0},{path:"global_r\
ate_limit.per",name:"per seconds",kind:"number",min:0},{path:"disable_rate_limit",name:"Rate limits of keys apply",kind:"flag",inverse:!0},{path:"disable_quota",
name:"Quotas of keys apply",kind:"flag",inverse:!0}]},{title:"More",inputs:[{path:"CORS.enable",name:"Answer browsers of other origins (CORS)",kind:"flag"},{path:"\
CORS.allowed_origins",name:"Allowed origins, one a line",kind:"lines"},{path:"cache_options.enable_cache",name:"Cache responses",kind:"flag"},{path:"cache_optio\
ns.cache_timeout",name:"for seconds",kind:"number",min:0},{path:"do_not_track",name:"Record requests",kind:"flag",inverse:!0},{path:"tags",name:"Tags, one a lin\
e",kind:"lines"}]}],LLM="tollgate.llm";function DefinitionForm({text,change,readOnly,problems,broken}){let values=b(()=>broken?null:Object.fromEntries([...SECTIONS.
flatMap(section=>section.inputs).map(input=>input.path),LLM].map(path=>[path,valueAt(text,path.split("."))])),[text,broken]);if(!values)return i(Panel,{title:"F\
orm",children:i("div",{class:"body",children:i(Note,{tone:"bad",icon:"alert",children:"The text is not JSON at the moment, so the form has nothing to show. Corr\
ect the marked line, or undo."})})});let elsewhere=problems.filter(one=>!SECTIONS.some(section=>section.inputs.some(input=>one.path===`$.${input.path}`)));return i(
Panel,{title:"Form",note:"other fields stay as they are",actions:elsewhere.length?i(Badge,{tone:"warn",children:[elsewhere.length," in JSON only"]}):void 0,children:i(
"div",{class:"body form",children:[SECTIONS.map(section=>i($,{children:[i("h3",{children:section.title}),section.inputs.map(input=>i(One,{input,value:values[input.
path],readOnly,problem:problems.find(one=>one.path===`$.${input.path}`),write:value=>change(set(text,input.path.split("."),value))},input.path))]})),values[LLM]&&
i($,{children:[i("h3",{children:"Budgets of its language models"}),i(BudgetForm,{budgets:values[LLM].budgets??[],set:list=>change(set(text,["tollgate","llm","bu\
dgets"],list.length?list:void 0)),readOnly,holders:[["api","all clients together"],["key","each key has its own"]]})]})]})})}function One({input,value,readOnly,
problem,write}){if(input.kind==="flag"){let on=input.inverse?!value:!!value;return i("label",{class:`choice ${input.wide?"field wide":""}`,children:[i("input",{
type:"checkbox",checked:on,disabled:readOnly,onChange:()=>write(input.inverse?on:!on)}),input.name]})}if(input.kind==="lines"){let list=Array.isArray(value)?value:
[];return list.some(one=>typeof one!="string")?i(Field,{label:input.name,wide:input.wide,hint:"Its entries are not plain texts; change them in the JSON.",children:i(
"input",{disabled:!0,value:`${list.length} entries`})}):i(Field,{label:input.name,wide:input.wide,error:problem?.message,children:i("textarea",{rows:Math.min(6,
Math.max(2,list.length+1)),readOnly,value:list.join(`
`),onChange:event=>{let lines2=event.currentTarget.value.split(`
`).map(line=>line.trim()).filter(Boolean);write(lines2.length||value?lines2:void 0)}})})}return i(Field,{label:input.name,wide:input.wide,hint:input.hint,error:problem?.
level==="ignored"?void 0:problem?.message,children:i("input",{class:input.kind==="mono"?"mono":"",type:input.kind==="number"?"number":"text",min:input.min,step:"\
any",placeholder:input.placeholder,readOnly,value:value??"","aria-invalid":problem?.level==="error"||void 0,onInput:event=>{let typed=event.currentTarget.value;
input.kind==="number"?typed===""?write(void 0):Number.isFinite(Number(typed))&&write(Number(typed)):write(typed===""&&value===void 0?void 0:typed)}})})}var STEPS_MAX=200,STEP_MS=700,CHECK_MS=400,LEVELS={error:"Error",warning:"Warning",note:"Note",ignored:"Without effect"};function useDocument(start){let[past,set2]=w(
{text:start,back:[],forth:[],at:0});return{text:past.text,canUndo:past.back.length>0,canRedo:past.forth.length>0,change:text=>set2(old=>{if(text===old.text)return old;
let now2=performance.now();return{text,back:now2-old.at<STEP_MS&&old.back.length?old.back:[...old.back,old.text].slice(-STEPS_MAX),forth:[],at:now2}}),undo:()=>set2(
old=>old.back.length?{text:old.back.at(-1),back:old.back.slice(0,-1),forth:[...old.forth,old.text],at:0}:old),redo:()=>set2(old=>old.forth.length?{text:old.forth.
at(-1),back:[...old.back,old.text],forth:old.forth.slice(0,-1),at:0}:old),restart:text=>set2({text,back:[],forth:[],at:0})}}function Definition({id,stored,reload}){
let[base,setBase]=w({text:layout(stored.text),etag:stored.etag}),document_=useDocument(base.text),{text}=document_,[problems,setProblems]=w([]),[checked,setChecked]=w(
null),[checkFailure,setCheckFailure]=w(null),[saving,setSaving]=w(!1),[conflict,setConflict]=w(null),[after,setAfter]=w(null),[reveal,setReveal]=w(),writable=session.
value?.writable.apis??!1,readOnly=narrow.value||!may("editor")||!writable,view=narrow.value?"json":route.value.query.get("view")??"both",dirty=text!==base.text;
S(()=>{guard.value=dirty?()=>confirm("Leave without saving? The changes are lost."):null;let leave=event=>{dirty&&event.preventDefault()};return addEventListener(
"beforeunload",leave),()=>removeEventListener("beforeunload",leave)},[dirty]),S(()=>()=>{guard.value=null},[]);let tree=b(()=>read(text),[text]);S(()=>{if(isFault(
tree)){setProblems([{level:"error",path:"$",message:tree.message,...place(text,tree.at)}]),setChecked(text);return}let control=new AbortController,timer=setTimeout(
()=>{call("POST",`check/api${query({id})}`,text,{signal:control.signal}).then(found2=>{setProblems(found2.problems),setChecked(text),setCheckFailure(null)},failure=>{
control.signal.aborted||(setCheckFailure(failure),setChecked(text))})},CHECK_MS);return()=>{clearTimeout(timer),control.abort()}},[text]);let placed=b(()=>problems.
map(problem=>{if(isFault(tree))return{...problem,from:tree.at,to:tree.at+1,line:place(text,tree.at).line};let{node,nameFrom}=find(tree,steps(problem.path)),from=nameFrom??
node.from;return{...problem,from,to:node.kind==="value"?node.to:from+1,line:place(text,from).line}}),[problems,tree]),errors=problems.filter(one=>one.level==="e\
rror").length,turn=U(0),jump=at=>{view==="form"&&refine({view:"both"}),setReveal({at,turn:++turn.current})},store=async(etag,content=text)=>{try{let answer=await ask(
"PUT",`apis/${segment(id)}`,content,etag?{headers:{"If-Match":etag}}:{});await reread();let fresh=await ask("GET",`apis/${segment(id)}`),previous=base.text;setBase(
{text:layout(fresh.text),etag:fresh.etag??answer.etag}),document_.restart(layout(fresh.text)),setConflict(null),setSaving(!1),setAfter({text:previous,at:Date.now()/
1e3}),say("ok",`Saved. ${answer.value.shared||alone()?"It serves from the next request.":`Only ${visible(answer.value.node??session.value?.node)} has it: these \
gateways do not share definitions.`}`),reload()}catch(failure){if(failure instanceof Failure&&failure.status===412){let changes=await get(`list/changes${query({
q:id,limit:50})}`).then(page=>page.rows.filter(row2=>row2.kind==="api"&&row2.target===id),()=>[]);setSaving(!1),setConflict({changes,...failure.body,text:layout(
textAt(failure.text,["current"]))});return}throw failure}};return i($,{children:[i("div",{class:"editor-bar",children:[!narrow.value&&i("span",{class:"segments",
role:"group","aria-label":"View",children:["form","both","json"].map(one=>i("button",{type:"button","aria-pressed":view===one,onClick:()=>refine({view:one}),children:one===
"json"?"JSON":one==="form"?"Form":"Both"},one))}),checked!==text?i(Badge,{tone:"muted",children:"checking"}):checkFailure?i(Badge,{tone:"warn",title:checkFailure.
message,children:"not checked"}):errors?i(Badge,{tone:"bad",children:[errors," ",errors===1?"error":"errors"]}):i(Badge,{tone:"ok",children:"valid"}),dirty&&i(Badge,
{tone:"accent",children:"changed"}),!readOnly&&i($,{children:[i(Button,{icon:"undo",kind:"quiet","aria-label":"Undo",title:"Undo (Ctrl-Z)",disabled:!document_.canUndo,
onClick:document_.undo}),i(Button,{icon:"redo",kind:"quiet","aria-label":"Redo",disabled:!document_.canRedo,onClick:document_.redo})]}),i(Button,{icon:"copy",kind:"\
quiet",onClick:()=>{copy(text,"JSON copied")},children:"Copy JSON"}),!readOnly&&i(Button,{kind:"primary",disabled:!dirty||errors>0,title:errors?"Errors must be \
corrected first":void 0,onClick:()=>setSaving(!0),children:"Save"})]}),readOnly&&i(Note,{children:narrow.value?"Definitions are read-only on narrow screens.":may(
"editor")?"This gateway's definitions come from a read-only place, such as a ConfigMap or Git. Change them there; this page checks and copies.":"Your role can v\
iew definitions, not change them."}),after&&i(After,{id,saved:after,undo:()=>{store(base.etag,after.text).then(()=>setAfter(null),failure=>say("bad",failure.message))},
close:()=>setAfter(null)}),i("div",{class:`editor ${view==="both"?"":"single"}`,children:[view!=="json"&&i(DefinitionForm,{text,change:document_.change,readOnly,
problems,broken:isFault(tree)}),i("div",{class:"stack",children:[view!=="form"&&i(Code,{text,label:"Definition as JSON",readOnly,problems:placed,change:document_.
change,undo:document_.undo,redo:document_.redo,save:()=>{dirty&&!errors&&setSaving(!0)},reveal}),checkFailure?i(ErrorBox,{failure:checkFailure}):null,placed.length>
0&&i(Panel,{title:"Problems",note:errors?`${errors===1?"1 error prevents":`${errors} errors prevent`} saving`:"none prevents saving",children:i("ul",{class:"pro\
blems",children:placed.map((one,index)=>i("li",{class:one.level==="error"?"bad":one.level==="warning"?"warn":"muted",children:[i(Icon,{name:one.level==="ignored"||
one.level==="note"?"info":"alert"}),i("button",{type:"button",onClick:()=>jump(one.from),children:["Line ",one.line,", ",visible(one.path)]}),i("p",{children:[i(
"b",{children:[LEVELS[one.level],": "]}),i(Text,{children:one.message})]})]},index))})})]})]}),saving&&i(Save,{old:base.text,text,save:()=>store(base.etag),close:()=>setSaving(
!1)}),conflict&&i(Conflict,{conflict,mine:text,base:base.text,close:()=>setConflict(null),theirs:()=>{setBase({text:conflict.text,etag:conflict.etag}),document_.
restart(conflict.text),setConflict(null)},merge:()=>{setBase({text:conflict.text,etag:conflict.etag}),setConflict(null),say("warn","Your text is kept and now co\
mpares with the stored one. Look at the differences before you save.")}})]})}function Diff({old,now:now2,label="What changes"}){let rows=lines(old,now2);return i(
"div",{class:"diff",role:"group","aria-label":label,tabIndex:0,children:rows.length===0?i("div",{children:[i("span",{}),i("span",{children:"no difference"})]}):
rows.map((row2,at)=>i("div",{class:row2.kind==="skip"?"skip-lines":row2.kind,children:[i("span",{"aria-label":row2.kind==="add"?"added":row2.kind==="del"?"remov\
ed":void 0,children:row2.kind==="add"?"+":row2.kind==="del"?"-":""}),i("span",{children:visible(row2.text)})]},at))})}var alone=()=>gateways.value===1;function affected(){
let number=gateways.value;return number===1?"It serves from the next request; open connections are kept.":session.value?.shared_definitions?`All ${number} gatew\
ays load it within seconds.`:`Only ${visible(session.value?.node)} gets it; ${number===2?"the other one keeps its files":`the other ${number-1} keep their files`}\
 (tollgate.shared_definitions is off).`}function Save({old,text,save,close}){let[failure,setFailure]=w(null),[busy,setBusy]=w(!1),run=()=>{setBusy(!0),setFailure(
null),save().catch(setFailure).finally(()=>setBusy(!1))};return i(Dialog,{title:"Save these changes?",close,wide:!0,footer:i($,{children:[i("span",{children:affected()}),
i(Button,{onClick:close,children:"Back"}),i(Button,{kind:"primary",autofocus:!0,disabled:busy,onClick:run,children:busy?"Saving":"Save"})]}),children:[failure?i(
Note,{tone:"bad",icon:"alert",children:["Not saved. ",i(Text,{children:failure.message.replace(/^Not saved\. /,"")})," The previous version still serves."]}):null,
i(Diff,{old,now:text})]})}function Conflict({conflict,mine,base,theirs,merge,close}){let last2=conflict.changes?.[0];return i(Dialog,{title:"Somebody else saved\
 first",close,wide:!0,footer:i($,{children:[i("span",{}),i(Button,{onClick:theirs,children:"Take theirs"}),i(Button,{kind:"primary",onClick:merge,children:"Keep\
 mine and compare"})]}),children:[i(Note,{tone:"warn",icon:"alert",children:["Not saved. ",last2?i($,{children:[i("b",{children:i(Text,{children:last2.user==="s\
ecret"?"Somebody with the control secret":last2.user||"Somebody"})})," changed this definition at ",moment(last2.time,!0),"."]}):"This definition was changed si\
nce you opened it."," Nothing of yours is lost."]}),i("h3",{children:"Their changes"}),i(Diff,{old:base,now:conflict.text,label:"Their changes"}),i("h3",{children:"\
Yours against what is stored now"}),i(Diff,{old:conflict.text,now:mine,label:"Your changes"})]})}function After({id,saved,undo,close}){tick.value;let series=apis.
get(id),age=Date.now()/1e3-saved.at;S(()=>{let timer=setTimeout(close,6e4);return()=>clearTimeout(timer)},[]);let before=mean(series,saved.at-60,saved.at),since=mean(
series,saved.at+2,1/0),worse=since!=null&&since>(before??0)+.01;return i(Note,{tone:worse?"bad":"ok",icon:worse?"alert":"ok",actions:i($,{children:[i(Button,{icon:"\
undo",onClick:undo,children:"Undo this save"}),i(Button,{icon:"close",kind:"quiet","aria-label":"Close",onClick:close})]}),children:["Saved ",span(Math.max(1,age)),
" ago. ",isScoped()?"The live tail shows what fails since.":i($,{children:["Failed since: ",i("b",{children:since==null?"no request yet":percent(since)}),"; in \
the minute before: ",before==null?"no request":percent(before),"."]})]})}function mean(series,from,to){if(!series)return null;let requests=0,failed=0;return series.
times.forEach((time,at)=>{time>from&&time<=to&&(requests+=series.columns.requests[at]??0,failed+=series.columns.server_errors[at]??0)}),requests?failed/requests:
null}function McpClients({id}){let loaded2=useLoaded(()=>get(`mcps/${segment(id)}/clients`),[id]),[removing,setRemoving]=w(null),clients=loaded2.value?.clients??[],change=async(method,client)=>{
try{await call(method,`mcps/${segment(id)}/clients/${client.client}`),loaded2.again()}catch(failure){say("bad",failure.message)}setRemoving(null)};return loaded2.
failure?i(ErrorBox,{failure:loaded2.failure,retry:loaded2.again}):i(Panel,{title:"Clients",note:"that users have signed in to",children:[clients.length===0?i(Empty,
{icon:"client",title:loaded2.value?"No user has signed in to a client yet.":"Loading"}):i("div",{class:"scroll-x",tabIndex:0,children:i("table",{class:"plain",children:[
i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Client"}),!narrow.value&&i($,{children:[i("th",{scope:"col",children:"Sends users to"}),i("t\
h",{scope:"col",children:"First"})]}),i("th",{scope:"col",children:"Last"}),i("th",{scope:"col",children:i("span",{class:"sr",children:"Actions"})})]})}),i("tbo\
dy",{children:clients.map(one=>i("tr",{children:[i("th",{scope:"row",children:[i(Text,{children:one.name||"without a name"})," ",one.removed&&i(Badge,{tone:"bad",
children:"removed"}),one.url&&i("div",{children:i("small",{children:i(Text,{mono:!0,children:one.url})})})]}),!narrow.value&&i($,{children:[i("td",{children:i(Text,
{mono:!0,children:one.redirect_uri})}),i("td",{children:i(Ago,{at:one.first_unix_s})})]}),i("td",{children:i(Ago,{at:one.last_unix_s})}),i("td",{class:"number",
children:may("editor")&&(one.removed?i(Button,{kind:"quiet",onClick:()=>{change("PUT",one)},children:"Let in again"}):i(Button,{kind:"quiet",onClick:()=>setRemoving(
one),children:"Remove"}))})]},one.client))})]})}),removing&&i(Dialog,{title:"Remove the client?",close:()=>setRemoving(null),footer:i($,{children:[i(Button,{onClick:()=>setRemoving(
null),children:"Cancel"}),i(Button,{kind:"danger",onClick:()=>{change("DELETE",removing)},children:"Remove"})]}),children:i("p",{children:[i("b",{children:i(Text,
{children:removing.name||visible(removing.client)})})," gets no codes and no tokens any more, from any gateway, and cannot renew those that it has. Access token\
s that it already has are good until they end."]})})]})}var LEGACY="2025-11-25",MODERN="2026-07-28",META="io.modelcontextprotocol/",CLIENT={name:"tollgate-console",version:"1"},ANSWER_BYTES=1<<20,PAGES_MAX=10,Refused=class extends Error{constructor(exchange){
super(exchange.fault||`It answered ${exchange.tried.status}.`);this.exchange=exchange}exchange};function throughDebug({api,path,host,header:header2,key,keyId}){
return(method,body,lines2)=>{let headers=key&&!keyId?{...lines2,[header2]:key}:lines2;return call("POST","debug",{api_id:api,method,path,host,headers,body,body_bytes:ANSWER_BYTES,
key_id:keyId,key_header:header2})}}var McpClient=class{constructor(transport){this.transport=transport}transport;session=null;version=null;ids=0;async ask(method,params,name){
return this.version||await this.begin(),this.send(method,params,name)}async list(method,member){let entries=[],cursor;for(let page=0;page<PAGES_MAX;page+=1){let exchange=await this.
ask(method,cursor===void 0?{}:{cursor:JSON.stringify(cursor)});if(exchange.message?.error?.code===-32601)return entries;if(!exchange.message?.result)throw new Refused(
exchange);let found2=exchange.message.result[member];if(Array.isArray(found2))for(let one of found2)one&&typeof one=="object"&&entries.push(one);if(cursor=exchange.
message.result.nextCursor??void 0,cursor===void 0)break}return entries}end(){this.session&&this.post("DELETE","",{}).catch(()=>{}),this.session=this.version=null}async begin(){
let params={protocolVersion:`"${LEGACY}"`,capabilities:"{}",clientInfo:JSON.stringify(CLIENT)},begun=await this.send("initialize",params);if(begun.message?.result){
this.session=header(begun.tried,"mcp-session-id"),this.version=String(begun.message.result.protocolVersion??LEGACY),await this.post("POST",'{"jsonrpc":"2.0","me\
thod":"notifications/initialized"}',{});return}if(begun.tried.steps.some(step=>step.decision==="refuse")||!begun.tried.upstream?.status)throw new Refused(begun);
if(this.version=MODERN,!(await this.send("server/discover",{})).message?.result)throw this.version=null,new Refused(begun)}async send(method,params,name){let id=++this.
ids,lines2={},members={...params};this.version===MODERN&&(members._meta=JSON.stringify({[`${META}protocolVersion`]:MODERN,[`${META}clientInfo`]:CLIENT,[`${META}\
clientCapabilities`]:{}}),lines2["Mcp-Method"]=method,name!==void 0&&(lines2["Mcp-Name"]=encoded(name)));let written2=Object.entries(members).map(([member,text])=>`${JSON.
stringify(member)}:${text}`).join(","),tried=await this.post("POST",`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":{${written2}}}`,lines2);
return{tried,...read2(tried,id)}}post(method,body,lines2){let headers={Accept:"application/json, text/event-stream",...lines2};return body&&(headers["Content-Ty\
pe"]="application/json"),this.session&&(headers["Mcp-Session-Id"]=this.session),this.version&&(headers["MCP-Protocol-Version"]=this.version),this.transport(method,
body,headers)}};function header(tried,name){return tried.headers.find(([own])=>own.toLowerCase()===name)?.[1]??null}function encoded(text){return/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.
test(text)&&!text.startsWith("=?base64?")?text:`=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`}function read2(tried,id){if(tried.body_truncated)
return{message:null,fault:"The answer is longer than can be shown here."};let texts=(header(tried,"content-type")??"").startsWith("text/event-stream")?events(tried.
body):[tried.body];for(let text of texts)try{let message=JSON.parse(text);if(message?.id===id||message?.error&&texts.length===1)return{message,fault:message.error?
String(message.error.message??""):""}}catch{}return{message:null,fault:tried.body.trim()?"The answer is no message of the protocol.":"There is no answer."}}function events(text){
return text.split(/\r?\n\r?\n/).map(event=>event.split(/\r?\n/).filter(line=>line.startsWith("data:")).map(line=>line.slice(5).replace(/^ /,"")).join(`
`)).filter(Boolean)}function row(kind,name,entry){let text=value=>typeof value=="string"?value:"";return{id:`${kind}:${name}`,kind,name,own_name:name,server:"",title:text(entry.title),
description:text(entry.description),digest:"",pin:"",withheld:"",changed:!1,state:"shown",entry:Object.keys(entry).length?entry:void 0}}function Lines({children}){
return i($,{children:children.split(`
`).map((line,at)=>i($,{children:[at>0&&i("br",{}),i(Text,{children:line})]}))})}var pretty=value=>(JSON.stringify(value,null,2)??"").split(`
`).map(visible).join(`
`);var DECISIONS={next:["ok","passed on"],refuse:["bad","refused"],reply:["accent","answered"]},METHODS=["GET","POST","PUT","PATCH","DELETE","HEAD","OPTIONS"];function TryIt({
id,definition,close}){let[method,setMethod]=w("GET"),[path,setPath]=w(definition?.proxy?.listen_path??"/"),[host,setHost]=w(definition?.domain??""),[address,setAddress]=w(
""),[key,setKey]=w(""),[headers,setHeaders]=w(""),[body,setBody]=w(""),[found2,setFound]=w(null),[failure,setFailure]=w(null),[busy,setBusy]=w(!1),header2=definition?.
auth?.auth_header_name||"Authorization",send=async event=>{event.preventDefault(),setBusy(!0),setFailure(null);try{let typed=read3(headers);key&&(typed[header2]=
[key]),setFound(await call("POST","debug",{api_id:id,method,path,host,client_ip:address,headers:typed,body:takesBody(method)?body:""}))}catch(failed){setFailure(
failed)}finally{setBusy(!1)}};return may("editor")?i(Dialog,{title:"Try it",close,side:!0,children:[i("form",{class:"form",onSubmit:send,children:[i(Field,{label:"\
Method",children:i("select",{value:method,onChange:event=>setMethod(event.currentTarget.value),children:METHODS.map(one=>i("option",{children:one},one))})}),definition?.
use_keyless?i("span",{}):i(Field,{label:`Key (${header2})`,children:i("input",{class:"mono",type:"password",autocomplete:"off",value:key,onInput:event=>setKey(event.
currentTarget.value)})}),i(Field,{label:"Path",wide:!0,hint:"As a client sends it, with the listen path and a query.",children:i("input",{class:"mono",autofocus:!0,
required:!0,spellcheck:!1,value:path,onInput:event=>setPath(event.currentTarget.value)})}),i(Field,{label:"Headers, one a line",wide:!0,children:i("textarea",{rows:2,
spellcheck:!1,value:headers,onInput:event=>setHeaders(event.currentTarget.value),placeholder:"Accept: application/json"})}),takesBody(method)&&i(Field,{label:"B\
ody",wide:!0,children:i("textarea",{rows:4,spellcheck:!1,value:body,onInput:event=>setBody(event.currentTarget.value)})}),i("details",{class:"field wide",children:[
i("summary",{children:"Host and client's address"}),i("div",{class:"form",children:[i(Field,{label:"Host",children:i("input",{class:"mono",value:host,placeholder:"\
that of this console",onInput:event=>setHost(event.currentTarget.value)})}),i(Field,{label:"Client's address",children:i("input",{class:"mono",value:address,placeholder:"\
yours",onInput:event=>setAddress(event.currentTarget.value)})})]})]}),i("div",{class:"row wide",children:[i(Button,{kind:"primary",icon:"play",type:"submit",disabled:busy,
children:busy?"Sending":"Send"}),i("small",{children:"Goes through this gateway only, and counts against limits and quotas."})]})]}),failure?i(ErrorBox,{failure}):
null,found2&&i(Result,{found:found2,asked:id,secret:key})]}):i(Dialog,{title:"Try it",close,children:i(Note,{children:"Your role can view, not send requests."})})}
var takesBody=method=>method!=="GET"&&method!=="HEAD";function read3(lines2){let found2=Object.create(null);return lines2.split(`
`).map(line=>line.trim()).filter(Boolean).forEach((line,at)=>{let colon=line.indexOf(":");if(colon<1)throw new Error(`Line ${at+1} of the headers has no "name: \
value": ${line}`);(found2[line.slice(0,colon).trim()]??=[]).push(line.slice(colon+1).trim())}),found2}var tone=status=>status>=500||!status?"bad":status>=400?"w\
arn":"ok",shown=headers=>headers.map(([name,value])=>`${visible(name)}: ${visible(value)}`).join(`
`);function Result({found:found2,asked,secret}){let hidden=headers=>shown(secret?headers.map(([name,value])=>[name,value.replaceAll(secret,"********")]):headers),
last2=found2.steps.at(-1),refused=found2.steps.find(step=>step.decision==="refuse");return i("div",{class:"stack",role:"region","aria-label":"Result",children:[
i("div",{class:`why ${tone(found2.status)}`,children:i("p",{children:[i("b",{children:found2.status||"No answer"})," ",found2.took_ms!=null&&`in ${duration(found2.
took_ms*1e3)}`,refused?i($,{children:[", refused by ",i("b",{children:refused.name}),": ",i(Text,{children:refused.message||refused.cause.replaceAll("_"," ")})]}):
last2?.decision==="reply"?i($,{children:[", answered by ",i("b",{children:last2.name})," without the upstream"]}):found2.upstream?.error?i($,{children:[": the u\
pstream failed, ",i(Text,{children:found2.upstream.error.replaceAll("_"," ")})]}):found2.upstream?", from the upstream":"","."]})}),!found2.routed&&i(Note,{tone:"\
warn",icon:"alert",children:"No API is for this host and path, so no chain was passed."}),found2.routed&&found2.api_id&&found2.api_id!==asked&&i(Note,{tone:"war\
n",icon:"alert",children:["Another API took this request: ",i("a",{href:link(["apis",found2.api_id]),children:i(Text,{children:found2.api_name||found2.api_id})}),
"."]}),found2.steps.length>0&&i("div",{children:[i("h3",{children:"Chain"}),i("ol",{class:"steps",children:found2.steps.map((step,at)=>i("li",{class:DECISIONS[step.
decision]?.[0],children:[i(Icon,{name:step.decision==="refuse"?"alert":"ok"}),i("span",{children:[step.name,step.api_id!==found2.steps[0].api_id&&i("small",{children:[
" of ",i(Text,{children:step.api_id})]}),step.cause&&i($,{children:[" ",i(Badge,{tone:"bad",children:step.cause.replaceAll("_"," ")})]})]}),i("small",{children:DECISIONS[step.
decision]?.[1]??step.decision}),i("small",{children:[duration(step.us),step.held_ms>0&&`, waited ${duration(step.held_ms*1e3)}`]})]},at))}),found2.steps_left_out>
0&&i("small",{children:[count(found2.steps_left_out)," more steps are not shown."]})]}),found2.upstream&&i("div",{children:[i("h3",{children:"What went upstream"}),
i("pre",{class:"document",tabIndex:0,children:`${found2.upstream.method} ${visible(found2.upstream.path)}
to ${visible(found2.upstream.target)}
${hidden(found2.upstream.headers)}${found2.upstream.body_bytes?`

${bytes(found2.upstream.body_bytes)} of body`:""}`}),i("small",{children:found2.upstream.error?i(Text,{children:found2.upstream.error.replaceAll("_"," ")}):i($,
{children:["It answered ",found2.upstream.status," in ",duration(found2.upstream.took_ms*1e3),"."]})})]}),i("div",{children:[i("h3",{children:"What the client g\
ets"}),i("pre",{class:"document",tabIndex:0,children:`${shown(found2.headers)}

${found2.body_base64?`(not text; in base64)
${found2.body}`:found2.body.split(`
`).map(visible).join(`
`)}`}),found2.body_truncated&&i("small",{children:"The rest of the body is not shown."})]}),i("small",{children:i(Text,{children:found2.note})})]})}var FIELDS_MAX=40;function headerOf(definition){return[definition?.auth,...Object.values(definition?.auth_configs??{})].map(place3=>place3?.auth_header_name).find(
name=>typeof name=="string"&&name)??"Authorization"}var KEYS_MAX=100;function useClient(id,definition){let[asking,setAsking]=w({key:"",keyId:"",path:definition?.
proxy?.listen_path??"/"}),client=U(null);return S(()=>()=>client.current?.made.end(),[]),{asking,setAsking,take:()=>{let by=JSON.stringify(asking);return client.
current?.by!==by&&(client.current?.made.end(),client.current={by,made:new McpClient(throughDebug({api:id,path:asking.path,host:definition?.domain??"",header:headerOf(
definition),key:asking.key,keyId:asking.keyId}))}),client.current.made},drop:()=>{client.current?.made.end(),client.current=null}}}function CallerFields({id,definition,
asking,change}){let keys=useLoaded(()=>definition?.use_keyless?Promise.resolve([]):listKeys({limit:1e3}).then(page=>page.rows.filter(one=>one.apis?.includes(id)||
one.policies?.length).slice(0,KEYS_MAX),()=>[]),[id]);return i($,{children:[!definition?.use_keyless&&i(Field,{label:"Whose key",wide:!0,hint:asking.keyId?"The \
gateway sends it; it is not shown.":void 0,children:i("select",{value:asking.keyId,onChange:event=>change({...asking,keyId:event.currentTarget.value}),children:[
i("option",{value:"",children:"One that you paste, or none"}),(keys.value??[]).map(one=>i("option",{value:one.id,children:visible(one.alias||one.id)},one.id))]})}),
!definition?.use_keyless&&!asking.keyId&&i(Field,{label:`Key (${headerOf(definition)})`,wide:!0,hint:"Sent as a client sends it; it is not kept.",children:i("in\
put",{class:"mono",type:"password",autocomplete:"off",value:asking.key,onInput:event=>change({...asking,key:event.currentTarget.value})})}),i("details",{class:"\
field wide",children:[i("summary",{children:"Path"}),i(Field,{label:"Path of the endpoint",children:i("input",{class:"mono",required:!0,spellcheck:!1,value:asking.
path,onInput:event=>change({...asking,path:event.currentTarget.value})})})]})]})}var LISTS=[["tools/list","tools","tool","name"],["prompts/list","prompts","prom\
pt","name"],["resources/list","resources","resource","uri"],["resources/templates/list","resourceTemplates","template","uriTemplate"]];function ListWithKey({id,
definition,close,found:found2}){let{asking,setAsking,take,drop}=useClient(id,definition),[failure,setFailure]=w(null),[busy,setBusy]=w(!1);return i(Dialog,{title:"\
List with a key",close,side:!0,children:[i("form",{class:"form",onSubmit:async event=>{event.preventDefault(),setBusy(!0),setFailure(null);try{let rows=new Map;
for(let[method,member,kind,name]of LISTS)for(let entry of await take().list(method,member))if(typeof entry[name]=="string"){let made=row(kind,entry[name],entry);
rows.set(made.id,made)}found2([...rows.values()])}catch(failed){setFailure(failed),setBusy(!1),drop()}},children:[i(CallerFields,{id,definition,asking,change:setAsking}),
i("div",{class:"row wide",children:[i(Button,{kind:"primary",type:"submit",disabled:busy,children:busy?"Asking":"List"}),i("small",{children:"Takes some request\
s, which count against limits and quotas."})]})]}),i(Failed,{failure,id,secret:asking.key})]})}function Failed({failure,id,secret}){return failure?failure instanceof
Refused?i("div",{class:"stack",children:[i(Verdict,{exchange:failure.exchange}),i(Result,{found:failure.exchange.tried,asked:id,secret})]}):i(ErrorBox,{failure}):
null}function TryTool({id,definition,chosen,close}){let{asking,setAsking,take,drop}=useClient(id,definition),[tools,setTools]=w(null),[name,setName]=w(chosen??""),
[text,setText]=w("{}"),[isWhole,setWhole]=w(!1),[values,setValues]=w(new Map),[found2,setFound]=w(null),[failure,setFailure]=w(null),[busy,setBusy]=w(""),outcome2=U(
null);S(()=>outcome2.current?.scrollIntoView({block:"nearest"}),[found2,failure]);let tool=tools?.find(one=>one.name===name),fields=fieldsOf(tool?.inputSchema),
asJson=isWhole||!fields,choose=next=>{setName(next),setValues(new Map),setText("{}"),setFound(null)},run=async(what,work)=>{setBusy(what),setFailure(null);try{await work()}catch(failed){
setFailure(failed)}finally{setBusy("")}},list=()=>run("list",async()=>{try{let listed=(await take().list("tools/list","tools")).filter(one=>typeof one.name=="st\
ring");setTools(listed),listed.some(one=>one.name===name)||choose(chosen??listed[0]?.name??"")}catch(failed){throw drop(),failed}}),send=event=>{event.preventDefault(),
run("call",async()=>{let written2=asJson?text.trim()||"{}":argumentsOf(fields,values);check(written2);let call2=()=>take().ask("tools/call",{name:JSON.stringify(
name),arguments:written2},name),exchange;try{exchange=await call2()}catch(failed){throw failed instanceof Refused&&drop(),failed}exchange.tried.status===404&&(drop(),
exchange=await call2()),setFound({exchange,tool:name})})};return S(()=>{definition?.use_keyless&&list()},[]),may("editor")?i(Dialog,{title:"Try a tool",close,side:!0,
children:[i("form",{class:"form",onSubmit:event=>{event.preventDefault(),list()},children:[i(CallerFields,{id,definition,asking,change:next=>{setAsking(next),setTools(
null)}}),i("div",{class:"row wide",children:[i(Button,{type:"submit",kind:tools?"plain":"primary",icon:"refresh",disabled:!!busy,children:busy==="list"?"Asking":
tools?"List the tools again":"List the tools"}),i("small",{children:"All requests go through this gateway only, and count against limits and quotas."})]})]}),tools?.
length===0&&i(Note,{tone:"warn",icon:"alert",children:"A client with this key sees no tool. One that it does not see can be called by its name all the same."}),
i("form",{class:"form",onSubmit:send,children:[tools&&tools.length>0?i(Field,{label:"Tool",wide:!0,children:i("select",{value:name,onChange:event=>choose(event.
currentTarget.value),children:[!tool&&name&&i("option",{value:name,children:`${visible(name)} (not listed)`}),tools.map(one=>i("option",{value:one.name,children:visible(
one.name)},one.name))]})}):i(Field,{label:"Tool",wide:!0,hint:"List the tools to choose one, and for a form of its arguments.",children:i("input",{class:"mono",
required:!0,spellcheck:!1,value:name,onInput:event=>choose(event.currentTarget.value)})}),typeof tool?.description=="string"&&tool.description&&i("p",{class:"wi\
de told",children:i(Lines,{children:tool.description})}),fields&&fields.length>0&&i("label",{class:"choice wide",children:[i("input",{type:"checkbox",checked:isWhole,
onChange:()=>{if(!isWhole)try{setText(JSON.stringify(JSON.parse(argumentsOf(fields,values)),null,2))}catch{setText("{}")}setWhole(!isWhole)}})," Arguments as JS\
ON"]}),asJson?i(Field,{label:"Arguments as JSON",wide:!0,children:i("textarea",{class:"mono",rows:6,spellcheck:!1,value:text,onInput:event=>setText(event.currentTarget.
value)})}):fields.map(field=>i(Argument,{field,value:values.get(field.name)??"",change:value=>setValues(new Map(values).set(field.name,value))},field.name)),i("\
div",{class:"row wide",children:i(Button,{kind:"primary",icon:"play",type:"submit",disabled:!!busy||!name,children:busy==="call"?"Calling":"Call"})})]}),i("div",
{class:"stack",ref:outcome2,children:[i(Failed,{failure,id,secret:asking.key}),found2&&!failure&&i("div",{class:"stack",role:"region","aria-label":"What came of\
 it",children:[i(Verdict,{exchange:found2.exchange}),i(Content,{result:found2.exchange.message?.result}),i("details",{children:[i("summary",{children:"The reque\
st through the gateway"}),i(Result,{found:found2.exchange.tried,asked:id,secret:asking.key})]})]})]})]}):i(Dialog,{title:"Try a tool",close,children:i(Note,{children:"\
Your role can view, not send requests."})})}function Verdict({exchange}){let{tried,message,fault:fault2}=exchange,refused=tried.steps.find(step=>step.decision===
"refuse"),error=message?.error,isError=message?.result?.isError===!0;return i("div",{class:`why ${error||refused||!message?"bad":isError?"warn":"ok"}`,children:[
i("p",{children:[refused?i($,{children:["Refused by ",i("b",{children:refused.name}),": ",i(Text,{children:refused.message||refused.cause.replaceAll("_"," ")})]}):
error?i($,{children:["Error ",i("b",{children:String(error.code)}),": ",i(Text,{children:String(error.message??"")})]}):message?isError?"The tool says that it f\
ailed":"Done":i($,{children:["No result: ",i(Text,{children:fault2})]})," ",i("small",{children:["(",tried.status?`status ${tried.status}`:"no answer"," in ",duration(
tried.took_ms*1e3),", at ",i(Text,{children:tried.node}),refused&&error&&i($,{children:[", JSON-RPC error ",String(error.code)]}),")"]})]}),error?.data!==void 0&&
!refused&&i("pre",{class:"document",tabIndex:0,children:pretty(error.data)})]})}function Content({result}){if(!result)return null;let parts=Array.isArray(result.
content)?result.content:[];return i($,{children:[parts.length>0&&i("div",{children:[i("h3",{children:"Result"}),parts.map((part,at)=>i("pre",{class:"document",tabIndex:0,
children:part?.type==="text"?String(part.text).split(`
`).map(visible).join(`
`):typeof part?.data=="string"?`${visible(part.type)}, ${visible(part.mimeType)}, ${bytes(part.data.length*.75)}`:pretty(part)},at))]}),result.structuredContent!==
void 0&&i("div",{children:[i("h3",{children:"Structured result"}),i("pre",{class:"document",tabIndex:0,children:pretty(result.structuredContent)})]}),!parts.length&&
result.structuredContent===void 0&&i("div",{children:[i("h3",{children:"Result"}),i("pre",{class:"document",tabIndex:0,children:pretty(result)})]})]})}function fieldsOf(schema){
let properties=schema?.properties;if(!properties||typeof properties!="object"||Array.isArray(properties)||schema.type&&schema.type!=="object")return null;let entries=Object.
entries(properties);if(entries.length>FIELDS_MAX)return null;let required=new Set(Array.isArray(schema.required)?schema.required:[]);return entries.map(([name,one])=>{
let choices=Array.isArray(one?.enum)?one.enum:[],kind=choices.length?"choice":one?.type==="string"?"text":one?.type==="number"||one?.type==="integer"?"number":one?.
type==="boolean"?"flag":"json";return{name,kind,choices,required:required.has(name),whole:one?.type==="integer",hint:typeof one?.description=="string"?one.description:
""}})}function Argument({field,value,change}){let label=`${visible(field.name)}${field.required?"":" (optional)"}`,hint=field.hint?i(Text,{children:field.hint}):
void 0,type=event=>change(event.currentTarget.value);switch(field.kind){case"flag":return i(Field,{label,hint,wide:!0,children:i("select",{value,onChange:type,children:[
i("option",{value:"",children:field.required?"choose":"not given"}),i("option",{value:"true",children:"true"}),i("option",{value:"false",children:"false"})]})});case"\
choice":return i(Field,{label,hint,wide:!0,children:i("select",{value,required:field.required,onChange:type,children:[i("option",{value:"",children:field.required?
"choose":"not given"}),field.choices.map((one,at)=>i("option",{value:JSON.stringify(one),children:visible(typeof one=="string"?one:JSON.stringify(one))},at))]})});case"\
json":return i(Field,{label:`${label}, JSON`,hint,wide:!0,children:i("textarea",{class:"mono",rows:3,spellcheck:!1,value,onInput:type})});case"number":return i(
Field,{label,hint,wide:!0,children:i("input",{inputMode:"decimal",class:"mono",required:field.required,value,onInput:type})});default:return i(Field,{label,hint,
wide:!0,children:i("textarea",{rows:1,spellcheck:!1,value,onInput:type})})}}function argumentsOf(fields,values){return`{${fields.flatMap(field=>{let typed=values.
get(field.name)??"";if(!typed&&!(field.required&&field.kind==="text"))return[];if(field.kind==="number"&&!/^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/.test(typed))
throw new Error(`${visible(field.name)} is no number: ${visible(typed)}`);if(field.kind==="json")try{JSON.parse(typed)}catch{throw new Error(`${visible(field.name)}\
 is no JSON`)}return[`${JSON.stringify(field.name)}:${field.kind==="text"?JSON.stringify(typed):typed.trim()}`]}).join(",")}}`}function check(text){let value;try{
value=JSON.parse(text)}catch(failure){throw new Error(`The arguments are no JSON: ${failure.message}`)}if(typeof value!="object"||!value||Array.isArray(value))throw new Error(
"The arguments must be a JSON object.")}var SPANS2=[["1h","1 h"],["24h","24 h"],["7d","7 d"]],ROWS=1e3,STATES={not_asked:["muted","not asked yet"],there:["ok","there"],missing:["bad","not there"]},SHOWN={
changed:["bad","changed, withheld"],hidden:["warn","withheld"],shown:["ok","shown"]},PREFIXES=[["/mcp-tool:","tool"],["/mcp-prompt:","prompt"],["/mcp-resource:",
"resource"],["/json-rpc-method:","method"]],pathOf=(kind,name)=>`${PREFIXES.find(([,one])=>one===kind)?.[0]??""}${name}`;function McpTools({id,definition}){let q=route.
value.query,isFederation=!!definition?.tollgate?.mcp,last2=SPANS2.some(([one])=>one===q.get("last"))?q.get("last"):"24h",[open,setOpen]=w(null),[trying,setTrying]=w(
null),[listing,setListing]=w(!1),[version,setVersion]=w(0),[listed,setListed]=w(null),list=useList(isFederation?"primitives":null,{api:id,q:q.get("q")??void 0,sort:q.
get("sort")??"state"}),used=useUse(id,last2),words=(q.get("q")??"").toLowerCase().split(/\s+/).filter(Boolean),fits=row2=>words.every(word=>[row2.name,row2.kind,
row2.description,row2.server].some(text=>text.toLowerCase().includes(word))),called=isFederation?[]:calledRows(used.uses),known=listed&&[...listed,...called.filter(
row2=>!listed.some(one=>one.kind===row2.kind&&one.name===row2.name))],shown3=known?here(known.filter(fits)):isFederation?list:here(called.filter(fits)),use=row2=>used.
uses?.get(pathOf(row2.kind,row2.name)),figure=(show,none="0")=>row2=>{let found2=row2.kind==="template"?void 0:use(row2);return found2?show(found2):used.uses&&row2.
kind!=="template"?none:UNKNOWN},editor=may("editor")&&!isScoped();return i($,{children:[isFederation&&i(Servers,{id,version,changed:list.reload}),i("div",{class:"\
toolbar",children:[i(Filter,{label:"Filter tools, resources and prompts",placeholder:"Name, server, description"}),i("div",{class:"segments",role:"group","aria-\
label":"Calls of the past",children:SPANS2.map(([one,name])=>i("button",{type:"button","aria-pressed":last2===one,onClick:()=>refine({last:one}),children:name},
one))}),editor&&i($,{children:[i(Button,{class:"push",icon:"refresh",onClick:()=>setListing(!0),children:"List with a key"}),i(Button,{icon:"play",kind:"primary",
onClick:()=>setTrying(""),children:"Try a tool"})]})]}),used.failure?i(ErrorBox,{failure:used.failure}):null,used.now&&i(Note,{children:"Usage is not recorded (\
enable_analytics), so calls are those that were counted since somebody looked, of the past 10 minutes at most."}),definition?.do_not_track&&i(Note,{tone:"warn",
icon:"alert",children:"Requests of this proxy are not recorded (do_not_track), so nobody knows who calls what."}),used.missing.length>0&&i(Note,{tone:"warn",icon:"\
alert",children:["Calls are without those of ",used.missing.map(visible).join(", "),"."]}),listed&&i(Note,{actions:i(Button,{icon:"close",kind:"quiet","aria-lab\
el":"Back",onClick:()=>setListed(null)}),children:"This is what a client with that key sees."}),!listed&&!isFederation&&i(Note,{children:["The gateway does not \
keep what this server offers. Shown is what was called",editor?"; list the rest with a key.":"."]}),i(Table,{label:"Tools, resources and prompts",list:shown3,id:row2=>row2.
id,open:setOpen,order:isFederation&&!listed?"state":void 0,tone:row2=>row2.changed?"expired":void 0,empty:i(Empty,{icon:"api",title:words.length?"Nothing matche\
s.":isFederation?"Nothing is known yet.":"Nothing was called.",children:words.length?null:isFederation?"Servers are asked what they offer when a client comes.":
null}),columns:[{id:"name",name:"Name",sort:isFederation&&!listed?"name":void 0,grow:!0,show:row2=>i("a",{href:"#",onClick:event=>{event.preventDefault(),setOpen(
row2)},children:i(Text,{children:row2.name})})},{id:"state",bare:!0,name:"State",sort:isFederation&&!listed?"state":void 0,show:row2=>row2.server||listed?row2.kind===
"method"?null:i(Badge,{tone:SHOWN[row2.state][0],children:SHOWN[row2.state][1]}):i(Badge,{tone:"muted",children:"called"})},{id:"kind",name:"Kind",sort:isFederation&&
!listed?"kind":void 0,show:row2=>row2.kind},...isFederation&&!listed?[{id:"server",name:"Server",sort:"server",show:row2=>i(Text,{children:row2.server})}]:[],{id:"\
calls",name:"Calls",number:!0,show:figure(found2=>count(found2.hits))},{id:"errors",name:"Failed",number:!0,show:figure(found2=>i("span",{class:found2.errors?"b\
ad":"",children:count(found2.errors)}))},{id:"p99",name:"p99",number:!0,show:figure(found2=>found2.p99_ms==null?UNKNOWN:percentile(found2.p99_ms*1e3,3e7),UNKNOWN)},
{id:"description",name:"Description",wide:!0,show:row2=>i("span",{title:visible(row2.description),children:i(Text,{children:row2.description})})}]}),definition?.
tollgate?.authorization_proxy&&i(McpClients,{id}),open&&i(One2,{id,row:open,last:last2,now:used.now,use:use(open),close:()=>setOpen(null),tryIt:()=>{setTrying(open),
setOpen(null)},agreed:()=>{setOpen(null),setVersion(version+1),list.reload()}}),trying!==null&&i(TryTool,{id,definition,chosen:trying===""?void 0:trying.name,close:()=>setTrying(
null)}),listing&&i(ListWithKey,{id,definition,close:()=>setListing(!1),found:rows=>{setListed(rows),setListing(!1)}})]})}function calledRows(uses){return[...uses??
[]].flatMap(([path])=>{let found2=PREFIXES.find(([prefix2])=>path.startsWith(prefix2));if(!found2)return[];let[prefix,kind]=found2;return[row(kind,path.slice(prefix.
length),{})]})}function useUse(id,last2){let turn=Math.floor(tick.value/10),found2=useLoaded(async()=>{try{let usage=await get(`usage${query({by:"path",api_id:id,
top:ROWS,last:last2,nodes:"all"})}`,{byItself:!0});return{rows:usage.rows,missing:usage.missing??[],now:!1}}catch(failure){if(!(failure instanceof Failure)||failure.
status!==404)throw failure;let top=await get(`top${query({by:"path",api:id,window:600,k:256,nodes:"all"})}`,{byItself:!0});return{rows:top.rows.map(one=>({value:one.
value,hits:one.requests,errors:one.refused+one.server_errors,p99_ms:null})),missing:top.missing??[],now:!0}}},[`${id} ${last2}`,turn]);return{uses:found2.value&&
new Map(found2.value.rows.map(one=>[String(one.value),one])),now:found2.value?.now??!1,failure:found2.value?null:found2.failure,missing:found2.value?.missing??[]}}
function Servers({id,version,changed}){let gateways2=now.value?.nodes??[],node=route.value.query.get("node")??"",turn=Math.floor(tick.value/3),loaded2=useLoaded(
()=>get(`mcps/${segment(id)}/servers${query({node})}`,{byItself:!0}),[`${id} ${node}`,turn,version]),[busy,setBusy]=w(!1),[open,setOpen]=w(null),servers=loaded2.
value?.servers??[],read4=servers.map(one=>one.asked_unix_s??0).reduce((one,other)=>Math.max(one,other),0);S(()=>{read4&&!node&&changed()},[read4]);let asking=async()=>{
setBusy(!0);try{loaded2.replace(await call("POST",`mcps/${segment(id)}/servers`)),changed()}catch(failure){say("bad",failure.message)}finally{setBusy(!1)}},isOther=!!node&&
node!==session.value?.node,missing=servers.filter(one=>one.state==="missing"),changedTools=servers.reduce((sum,one)=>sum+one.changed,0);return i("section",{class:"\
stack","aria-label":"Servers behind this proxy",children:[i("div",{class:"page-head",children:[i("h2",{children:["Servers ",i("small",{children:loaded2.value?i(
$,{children:["as ",i(Text,{children:loaded2.value.node})," knows them"]}):"loading"})]}),gateways2.length>1&&i("label",{class:"row",children:["gateway ",i("sele\
ct",{"aria-label":"Gateway",value:node||session.value?.node,onChange:event=>refine({node:event.currentTarget.value===session.value?.node?void 0:event.currentTarget.
value}),children:gateways2.map(one=>i("option",{value:one,children:visible(one)},one))})]}),may("editor")&&i(Button,{icon:"refresh",class:"push",disabled:busy||
isOther,title:isOther?"Only the gateway of this console can be told to ask":"Asks all servers what they offer",onClick:()=>{asking()},children:busy?"Asking":"As\
k now"})]}),loaded2.failure?i(ErrorBox,{failure:loaded2.failure,retry:loaded2.again,since:loaded2.at??void 0}):null,missing.map(one=>i(Note,{tone:"bad",icon:"al\
ert",children:[i("b",{children:i(Text,{children:one.name})})," is not there since ",moment(one.since_unix_s,!0),": ",i(Text,{children:one.fault}),". Its tools a\
re left out."]},one.name)),changedTools>0&&i(Note,{tone:"bad",icon:"alert",children:[changedTools===1?"One tool is":`${changedTools} tools are`," withheld becau\
se ",changedTools===1?"its server says":"their servers say"," something else than what was agreed to. Open ",changedTools===1?"it":"them"," and read what models\
 would be told."]}),isOther&&i(Note,{children:["The tools below are as this console's gateway, ",i(Text,{children:session.value?.node}),", has read them."]}),loaded2.
value&&i(Table,{label:"Servers",list:here(servers),id:one=>one.name,open:setOpen,empty:i(Empty,{icon:"info",title:"There is no server."}),tone:one=>one.state===
"missing"?"expired":void 0,columns:[{id:"name",name:"Server",grow:!0,show:one=>i($,{children:[i("a",{href:"#",onClick:event=>{event.preventDefault(),setOpen(one)},
children:i(Text,{children:one.name})})," ",i("small",{children:i(Text,{mono:!0,children:one.place})})]})},{id:"state",bare:!0,name:"State",show:one=>i(Badge,{tone:STATES[one.
state][0],children:STATES[one.state][1]})},{id:"since",name:"Since",show:one=>i(Ago,{at:one.since_unix_s})},{id:"asked",name:"Asked",show:one=>one.asked_unix_s?
i(Ago,{at:one.asked_unix_s}):"never"},{id:"tools",name:"Tools",number:!0,show:one=>one.asked_unix_s?i($,{children:[count(one.tools),one.withheld>0&&i($,{children:[
", ",i("span",{class:"bad",children:[count(one.withheld)," withheld"]})]})]}):UNKNOWN},{id:"version",name:"Protocol",show:one=>i($,{children:[one.version||UNKNOWN,
one.has_sessions===!1&&i("small",{children:" without sessions"})]})},{id:"process",name:"Process",wide:!0,show:one=>one.process?one.process.running?i($,{children:[
"runs",one.process.restarts>0&&`, ${restarts(one.process)}`]}):one.process.started_unix_s?i("span",{class:"bad",children:"ended"}):"not started":""}]}),open&&i(
Dialog,{title:visible(open.name),close:()=>setOpen(null),children:i(Facts,{children:[i(Fact,{name:"State",children:[i(Badge,{tone:STATES[open.state][0],children:STATES[open.
state][1]})," ",open.since_unix_s&&i($,{children:["since ",full(open.since_unix_s)]})]}),open.fault&&i(Fact,{name:"Why",children:i(Text,{children:open.fault})}),
i(Fact,{name:"Asked last",children:open.asked_unix_s?full(open.asked_unix_s):"never; it is when a client comes"}),i(Fact,{name:open.kind==="url"?"URL":open.kind===
"api"?"API":"Program",children:open.kind==="api"?i("a",{href:link(["apis",open.place]),children:i(Text,{children:open.place})}):i(Text,{mono:!0,children:open.place})}),
i(Fact,{name:"Protocol",children:[open.version||"not known",open.has_sessions!=null&&(open.has_sessions?", with sessions":", without sessions")]}),i(Fact,{name:"\
Tools",children:[count(open.tools)," shown, ",count(open.withheld)," withheld"]}),i(Fact,{name:"Prompts, resources",children:[count(open.prompts),", ",count(open.
resources)]}),open.process&&i(Fact,{name:"Process",children:[open.process.running?i($,{children:["runs since ",full(open.process.started_unix_s),", ",restarts(open.
process)]}):open.process.started_unix_s?"does not run":"was not started yet",open.process.ended_unix_s&&i($,{children:[i("br",{}),"ended last at ",full(open.process.
ended_unix_s),": ",i(Text,{children:open.process.end})]})]}),i(Fact,{name:"Seen by",children:i(Text,{children:loaded2.value?.node})})]})})]})}var restarts=process=>process.
restarts===1?"1 restart":`${count(process.restarts)} restarts`;function One2({id,row:row2,last:last2,now:now2,use,close,tryIt,agreed}){let[agreeing,setAgreeing]=w(
!1),whole=useLoaded(async()=>row2.server?(await get(`list/primitives${query({api:id,name:row2.name,limit:1e3})}`)).rows.find(one2=>one2.id===row2.id)??null:row2,
[row2.id]),keys=useLoaded(()=>now2||row2.kind==="template"?Promise.resolve(null):get(`usage${query({by:"key",api_id:id,path:pathOf(row2.kind,row2.name),last:last2,
top:20,nodes:"all"})}`),[row2.id]),one=whole.value??row2,mayPin=may("editor")&&!!session.value?.writable.apis,callers=keys.value?.rows??[],isStale=whole.value===
null&&!whole.waiting&&!whole.failure;return agreeing?i(Agree,{id,row:one,close:()=>setAgreeing(!1),agreed}):i(Dialog,{title:visible(row2.name),close,side:!0,footer:i(
$,{children:[one.changed&&mayPin&&i(Button,{kind:"primary",disabled:!whole.value,onClick:()=>setAgreeing(!0),children:"Agree to what it says now"}),!one.changed&&
!one.pin&&one.state==="shown"&&one.digest&&mayPin&&i(Button,{disabled:!whole.value,onClick:()=>setAgreeing(!0),children:"Pin what it says"}),row2.kind==="tool"&&
row2.state==="shown"&&may("editor")&&!isScoped()&&i(Button,{icon:"play",kind:one.changed?"plain":"primary",onClick:tryIt,children:"Try it"})]}),children:[one.withheld&&
i("div",{class:`why ${one.changed?"bad":"warn"}`,children:i("p",{children:["Clients do not see it: ",i(Text,{children:one.withheld}),"."]})}),one.changed&&!may(
"editor")&&i(Note,{children:"Your role can view this, not agree to it."}),isStale&&i(Note,{tone:"warn",icon:"alert",children:"The server does not offer it any m\
ore."}),i(Facts,{children:[i(Fact,{name:"Kind",children:[one.kind,one.title&&i($,{children:[", ",i(Text,{children:one.title})]})]}),one.server&&i(Fact,{name:"Se\
rver",children:[i(Text,{children:one.server}),one.own_name!==one.name&&i($,{children:[", where it is ",i(Text,{mono:!0,children:one.own_name})]})]}),one.digest&&
i(Fact,{name:"Digest",children:[i(Text,{mono:!0,children:one.digest})," ",i(Copy,{text:one.digest,label:"Copy the digest"})]}),one.digest&&i(Fact,{name:"Agreed \
to",children:one.pin?one.pin===one.digest?"this digest":i(Text,{mono:!0,children:one.pin}):"anything: it has no pin"}),i(Fact,{name:`Calls, ${now2?"now":SPANS2.
find(([span2])=>span2===last2)?.[1]??last2}`,children:[use?`${count(use.hits)}, ${count(use.errors)} failed${use.p99_ms==null?"":`, p99 ${percentile(use.p99_ms*
1e3,3e7)}`}`:row2.kind==="template"?"counted for each resource":"none",use&&use.hits>0&&i($,{children:[i("br",{}),i("small",{children:"Failed are answers with a\
 status from 400 on. What a tool itself calls an error has the status 200."})]})]})]}),one.description&&i("div",{children:[i("h3",{children:"What models are tol\
d"}),i("p",{class:"told",children:i(Lines,{children:one.description})})]}),keys.failure?i(ErrorBox,{failure:keys.failure,retry:keys.again}):null,callers.length>
0&&i("div",{children:[i("h3",{children:"Who uses it"}),i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Ke\
y"}),i("th",{scope:"col",class:"number",children:"Calls"}),i("th",{scope:"col",class:"number",children:"Failed"}),i("th",{scope:"col",class:"number",children:"p\
99"})]})}),i("tbody",{children:callers.map(caller=>i("tr",{children:[i("th",{scope:"row",children:caller.value&&caller.value!=="_other"?i("a",{href:link(["keys",
String(caller.value)],{alias:caller.alias}),children:i(Text,{children:caller.alias||String(caller.value).slice(0,12)})}):caller.value?"other keys":"without a ke\
y"}),i("td",{class:"number",children:count(caller.hits)}),i("td",{class:`number ${caller.errors?"bad":""}`,children:count(caller.errors)}),i("td",{class:"number",
children:percentile(caller.p99_ms*1e3,3e7)})]},caller.value))})]})]}),whole.failure?i(ErrorBox,{failure:whole.failure,retry:whole.again}):null,one.entry&&i("det\
ails",{children:[i("summary",{children:"The whole entry"}),i("pre",{class:"document",tabIndex:0,children:pretty(one.entry)})]})]})}function Agree({id,row:row2,close,
agreed}){let[failure,setFailure]=w(null),[busy,setBusy]=w(!1),agree=async()=>{setBusy(!0),setFailure(null);try{await pin(id,row2),say("ok",i($,{children:["Clien\
ts see ",i("b",{children:visible(row2.own_name)})," as long as its server says this."]})),agreed()}catch(failed){setFailure(failed),setBusy(!1)}},told={title:row2.
entry?.title,description:row2.entry?.description,inputSchema:row2.entry?.inputSchema,outputSchema:row2.entry?.outputSchema,annotations:row2.entry?.annotations};
return i(Dialog,{title:row2.changed?"Agree to what the server says now?":"Pin what the server says?",close,wide:!0,footer:i($,{children:[i("span",{children:[affected(),
" The servers are asked anew."]}),i(Button,{onClick:close,children:"Back"}),i(Button,{kind:"primary",disabled:busy,onClick:()=>{agree()},children:busy?"Saving":
row2.changed?"Agree":"Pin"})]}),children:[failure?i(Note,{tone:"bad",icon:"alert",children:["Not saved. ",i(Text,{children:failure.message})]}):null,i("p",{children:[
row2.changed?"Clients and their models get this again once you agree. A server can put orders to models into a description: read it.":"From then on clients do n\
ot see the tool while its server says anything else."," The definition gets ",i("code",{children:"digest"})," of ",i("b",{children:i(Text,{children:row2.own_name})}),
" at ",i("b",{children:i(Text,{children:row2.server})}),"; nothing else changes."]}),row2.description&&i("p",{class:"told",children:i(Lines,{children:String(row2.
entry?.description??row2.description)})}),i("pre",{class:"document",tabIndex:0,children:pretty(told)}),i(Facts,{children:[row2.pin&&i(Fact,{name:"Agreed to so f\
ar",children:i(Text,{mono:!0,children:row2.pin})}),i(Fact,{name:"Now",children:i(Text,{mono:!0,children:row2.digest})})]})]})}async function pin(id,row2){let place3=`\
mcps/${segment(id)}`,members=["x-tollgate","mcp","servers"],stored=await ask("GET",place3).catch(failure=>{if(!(failure instanceof Failure)||failure.status!==400)
throw failure;return[place3,members]=[`apis/${segment(id)}`,["tollgate","mcp","servers"]],ask("GET",place3)}),servers=members.reduce((value,member)=>value?.[member],
stored.value),index=Array.isArray(servers)?servers.findIndex(one=>one?.name===row2.server):-1;if(index<0)throw new Error("The definition has no such server any \
more.");let text=set(stored.text,[...members,index,"tools",row2.own_name,"digest"],row2.digest);if(text===stored.text)throw new Error("The definition has anothe\
r form than expected; change it as JSON.");try{await ask("PUT",place3,text,stored.etag?{headers:{"If-Match":stored.etag}}:{})}catch(failure){throw failure instanceof
Failure&&failure.status===412?new Error("Somebody else changed the definition in this moment. Look at the tool again, then agree."):failure}await reread(),await call(
"POST",`mcps/${segment(id)}/servers`).catch(()=>{})}var TABS=[["live","Live"],["definition","Definition"],["chain","Chain"],["versions","Versions"],["keys","Keys"],["usage","Usage"]],TOOLS=["tools","Tools"],tabsOf=definition=>(definition?.
application_protocol==="mcp"?[TABS[0],TOOLS,...TABS.slice(1)]:TABS).filter(([part])=>part!=="live"||!isScoped());function ApiPage(){let scoped=isScoped(),[,id="",
part=""]=route.value.parts,tab=part&&!(scoped&&part==="live")?part:scoped?"definition":"live",loaded2=useLoaded(()=>ask("GET",`apis/${segment(id)}`),[id,tab==="\
definition"]),[trying,setTrying]=w(!1),[removing,setRemoving]=w(!1),definition=loaded2.value?.value;if(S(()=>{document.querySelector(".tabs [aria-current]")?.scrollIntoView(
{block:"nearest",inline:"nearest"})},[tab]),loaded2.failure&&!definition)return loaded2.failure instanceof Failure&&loaded2.failure.status===404?i(Empty,{icon:"\
alert",title:"There is no such API.",children:i(LinkButton,{href:"#/apis",children:"All APIs"})}):i(ErrorBox,{failure:loaded2.failure,retry:loaded2.again});let proxy=definition?.
proxy??{},behind=definition?.tollgate?.mcp?.servers?.length,target=behind?`${behind} ${behind===1?"server":"servers"}`:proxy.enable_load_balancing&&proxy.target_list?.
length?`${proxy.target_list.length} targets`:proxy.target_url,affected2=definition?.tollgate?.route?.affected_by??[],can=may("editor")&&session.value?.writable.
apis,tabs=tabsOf(definition);return i($,{children:[i("p",{class:"crumbs",children:[i("a",{href:"#/apis",children:"APIs"}),i(Icon,{name:"right"}),i("span",{children:i(
Text,{children:id})})]}),i("div",{class:"page-head",children:[i("h1",{children:[i(Text,{children:definition?.name||id}),definition&&i("small",{class:"mono",children:[
i(Text,{children:`${definition.domain??""}${proxy.listen_path??""}`})," ","→"," ",i(Text,{children:target})]})]}),definition?.internal&&i(Badge,{tone:"muted",
children:"internal"}),can&&i(Button,{icon:"trash",kind:"quiet","aria-label":"Delete this API",title:"Delete this API",onClick:()=>setRemoving(!0)}),!scoped&&i(Button,
{icon:"play",onClick:()=>setTrying(!0),children:"Try it"}),tab!=="definition"&&i(LinkButton,{icon:"edit",kind:"primary","data-key":"e",href:link(["apis",id,"def\
inition"]),children:can?"Edit":"View definition"})]}),affected2.length>0&&i("p",{children:[i("small",{children:"Policies of the cluster:"})," ",affected2.map(policy=>i(
Badge,{tone:"muted",children:i(Text,{children:policy})},policy))]}),i("nav",{class:"tabs","aria-label":"Parts of this API",children:tabs.map(([part2,name])=>i("\
a",{href:link(part2==="live"?["apis",id]:["apis",id,part2]),"aria-current":part2===tab?"page":void 0,children:name},part2))}),tab==="live"&&i(Live,{id,definition}),
tab==="tools"&&definition&&i(McpTools,{id,definition},id),tab==="definition"&&loaded2.value&&i(Definition,{id,stored:loaded2.value,reload:loaded2.again},id),tab===
"chain"&&i(Chain,{id}),tab==="versions"&&definition&&i(Versions,{definition}),tab==="keys"&&i(KeyTable,{fixed:{api:id}}),tab==="usage"&&i(UsageOf,{api:id}),trying&&
i(TryIt,{id,definition,close:()=>setTrying(!1)}),removing&&i(Remove,{id,name:definition?.name||id,etag:loaded2.value?.etag??null,close:()=>setRemoving(!1)})]})}
function Remove({id,name,etag,close}){let[failure,setFailure]=w(null),remove2=async()=>{try{await call("DELETE",`apis/${segment(id)}`,void 0,etag?{headers:{"If-\
Match":etag}}:{}),await reread(),say("ok",i($,{children:["API ",i("b",{children:visible(name)})," is deleted. Its path is no longer served."]})),go("#/apis")}catch(failed){
setFailure(failed)}};return i(Dialog,{title:"Delete this API?",close,footer:i($,{children:[i(Button,{onClick:close,children:"Keep it"}),i(Button,{kind:"danger",
onClick:()=>{remove2()},children:"Delete"})]}),children:[i("p",{children:["The definition of ",i("b",{children:i(Text,{children:name})})," is removed. Requests \
to its path get 404 from then on. Keys keep their other rights."]}),failure?i(ErrorBox,{failure}):null]})}function Live({id,definition}){tick.value;let series=apis.
get(id),past=useLoaded(async()=>state.value.kind==="starting"?null:(apis.has(id)||adopt(await get(`history${query({api:id,nodes:"all"})}`,{byItself:!0})),!0),[id,
state.value.kind==="starting"]),detail=useLoaded(()=>get(`live${query({api:id})}`,{byItself:!0}),[id,Math.floor(tick.value/5)]);if(past.failure&&!series)return i(
Note,{tone:"warn",icon:"alert",children:i(Text,{children:past.failure.message})});if(!series&&!past.value)return i(Empty,{icon:"clock",title:"Loading"});if(!series)
return i($,{children:[i(Empty,{icon:"clock",title:"No request within the past hour.",children:["Send one, and it appears here: ",i("code",{children:["curl -i ",
location.origin,definition?.proxy?.listen_path??"/"]})]}),i(Targets,{detail:detail.value,id,upstream:definition?.proxy?.target_url})]});let figure=column=>latest(
series,column,30),requests=figure("requests"),failed=figure("server_errors"),timeouts=figure("timeouts"),share=requests?(failed??0)/requests:requests===0?0:null,
breakers=(detail.value?.breakers??[]).filter(one=>one.api_id===id),open=breakers.filter(one=>one.open),now2=now.value;return i($,{children:[i("div",{class:"figu\
res",children:[i("span",{class:"figure panel",children:[i("span",{children:"Requests"}),i("strong",{children:[rate(requests),i("small",{children:"/s"})]}),i("em",
{children:[count(Math.round(figure("in_flight")??0))," in flight"]})]}),i("span",{class:`figure panel ${share&&share>=.01?"bad":""}`,children:[i("span",{children:"\
Failed"}),i("strong",{children:percent(share)}),i("em",{children:["timeouts ",rate(timeouts),"/s"]})]}),i("span",{class:"figure panel",children:[i("span",{children:"\
Refused"}),i("strong",{children:[rate(figure("refused")),i("small",{children:"/s"})]}),i("em",{children:i("a",{href:link(["live"],{api:id}),children:"why"})})]}),
i("span",{class:"figure panel",children:[i("span",{children:"Upstream p99"}),i("strong",{children:percentile(highest(series,"upstream_p99_us",30),ends.value.upstream)}),
i("em",{children:["p50 ",percentile(highest(series,"upstream_p50_us",30),ends.value.upstream)]})]}),i("span",{class:`figure panel ${open.length?"bad":""}`,children:[
i("span",{children:"Circuit breakers"}),i("strong",{children:open.length?"open":breakers.length?"closed":"none"}),i("em",{children:open[0]?i(Text,{children:open[0].
endpoint}):now2?`served by ${now2.nodes.length}/${now2.nodes.length+now2.missing.length}`:""})]})]}),i("div",{class:"two",children:[i(TrafficPlot,{series}),i(LatencyPlot,
{series})]}),i("div",{class:"two",children:[i(Targets,{detail:detail.value,id,upstream:definition?.proxy?.target_url}),i(Plot,{title:"Transferred",unit:"B/s",times:series.
times,span:hour(series),lines:[{name:"in",values:series.columns.request_bytes,color:"teal"},{name:"out",values:series.columns.response_bytes,color:"accent"}],show:value=>value==
null?UNKNOWN:`${bytes(value)}/s`})]}),i(ChainAndKeys,{id}),i(Refusals,{detail:detail.value,id})]})}var KEYS_S=600;function ChainAndKeys({id}){let turn=Math.floor(
tick.value/15),chain=useLoaded(()=>get(`apis/${segment(id)}/chain`,{byItself:!0}),[id,turn]),keys=useLoaded(()=>get(`usage${query({by:"key",api_id:id,last:`${KEYS_S}\
s`,top:6,nodes:"all"})}`,{byItself:!0}),[id,turn]),steps2=chain.value?.middlewares??[],callers=(keys.value?.rows??[]).filter(row2=>row2.value);return i("p",{class:"\
strip",children:[steps2.length>0&&i("span",{children:[i("b",{children:"Chain"})," ",steps2.map((step,at)=>i("span",{children:[at>0&&"› ",step.name,step.mean_ns!=
null&&i("small",{children:[" ",duration(step.mean_ns/1e3)]})]},step.name))," ",i("a",{href:link(["apis",id,"chain"]),children:"all"})]}),callers.length>0&&i("sp\
an",{children:[i("b",{children:"Keys, past 10 min"})," ",callers.map(row2=>i("span",{children:[i("a",{href:link(["keys",row2.value],{alias:row2.alias}),children:i(
Text,{children:row2.alias||String(row2.value).slice(0,12)})})," ",rate(row2.hits/KEYS_S),"/s",row2.errors>0&&`, ${percent(row2.errors/row2.hits)} failed`]},row2.
value))," ",i("a",{href:link(["apis",id,"usage"]),children:"all"})]})]})}var TARGET={available:["ok","available"],returning:["warn","returning"],ejected:["bad",
"ejected"],down:["bad","down"]};function Targets({detail,id,upstream}){let targets=detail?.apis?.find(one=>one.api_id===id)?.targets??[];return i(Panel,{title:"\
Upstream targets",children:targets.length===0?i("div",{class:"empty small",children:detail?i("p",{children:["All requests go to ",i(Text,{mono:!0,children:upstream}),
". Of several targets, each is listed here with its state."]}):"Loading"}):i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"\
col",children:"Target"}),i("th",{scope:"col",children:"State"}),i("th",{scope:"col",class:"number",children:"Requests"}),i("th",{scope:"col",class:"number",children:"\
Faults"}),i("th",{scope:"col",class:"number",children:"Sent again"}),i("th",{scope:"col",class:"number",children:"Latency"})]})}),i("tbody",{children:targets.map(
one=>i("tr",{children:[i("th",{scope:"row",children:[i(Text,{mono:!0,children:one.url}),one.weight!==1&&one.weight!=null&&i("small",{children:[" weight ",one.weight]})]}),
i("td",{children:[i(Badge,{tone:TARGET[one.state]?.[0]??"muted",children:TARGET[one.state]?.[1]??one.state}),one.cause&&i("small",{children:[" ",i(Text,{children:String(
one.cause).replaceAll("_"," ")})]}),one.ejection_ends_ms>0&&i("small",{children:[" for ",span(one.ejection_ends_ms/1e3)]})]}),i("td",{class:"number",children:count(
one.requests)}),i("td",{class:`number ${one.faults?"bad":""}`,children:count(one.faults)}),i("td",{class:"number",children:count(one.retries)}),i("td",{class:"n\
umber",children:one.latency_us?duration(one.latency_us):UNKNOWN})]},`${one.version} ${one.part} ${one.url}`))})]})})}function Refusals({detail,id}){let one=detail?.
apis?.find(api=>api.api_id===id),causes=Object.entries({...one?.refusals,...one?.upstream_errors}).filter(([,number])=>number>0).sort((a,b2)=>b2[1]-a[1]);return causes.
length?i("p",{class:"strip",children:i("span",{children:[i("b",{children:"Since the start"})," ",causes.map(([cause,number])=>i("a",{href:link(["live"],{api:id,
cause}),children:[cause," ",count(number)]},cause))]})}):null}var PHASES={pre_auth:"before the caller is known",auth:"who calls",post_auth:"once the caller is k\
nown"};function Chain({id}){let chain=useLoaded(()=>get(`apis/${segment(id)}/chain`),[id]),[version,setVersion]=w(0);if(chain.failure)return i(ErrorBox,{failure:chain.
failure,retry:chain.again});if(!chain.value)return i(Empty,{icon:"clock",title:"Loading"});let versions=chain.value.versions??[{name:"",middlewares:chain.value.
middlewares}],steps2=(versions[version]??versions[0])?.middlewares??[],sum=steps2.reduce((all,step)=>all+(step.mean_ns??0),0),note=sum?`~${duration(sum/1e3)} pe\
r request. Means of 1 in 1,024 requests of all APIs, since the start of ${visible(chain.value.node)}.`:"in the order in which requests pass it; costs appear aft\
er some thousand requests";return i(Panel,{title:"Chain",note,actions:versions.length>1&&i("label",{class:"row",children:["version ",i("select",{"aria-label":"V\
ersion",value:version,onChange:event=>setVersion(Number(event.currentTarget.value)),children:versions.map((one,at)=>i("option",{value:at,children:visible(one.name)},
at))})]}),children:steps2.length===0?i("div",{class:"empty small",children:"No middleware: requests go straight to the upstream."}):i("table",{class:"plain",children:[
i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Middleware"}),!narrow.value&&i("th",{scope:"col",children:"When"}),i("th",{scope:"col",class:"\
number",children:"Mean"}),i("th",{scope:"col",children:"Share"}),i("th",{scope:"col",class:"number",children:"Samples"})]})}),i("tbody",{children:steps2.map((step,at)=>i(
"tr",{children:[i("th",{scope:"row",children:[i("small",{children:at+1})," ",step.name]}),!narrow.value&&i("td",{children:PHASES[step.phase]??step.phase}),i("td",
{class:"number",children:step.mean_ns==null?UNKNOWN:duration(step.mean_ns/1e3)}),i("td",{children:step.mean_ns!=null&&sum?i($,{children:[i("span",{class:"share",
"aria-hidden":"true",children:i("span",{style:{width:`${100*step.mean_ns/sum}%`}})}),percent(step.mean_ns/sum)]}):""}),i("td",{class:"number",children:count(step.
samples)})]},step.name))})]})})}function Versions({definition}){let versions=Object.entries(definition.version_data?.versions??{}),single=definition.version_data?.
not_versioned;return i(Panel,{title:single?"Not versioned":`${versions.length} versions`,note:single?"all requests use this one":`named by ${definition.definition?.
location??"header"} ${definition.definition?.key??""}`,children:i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"\
Version"}),i("th",{scope:"col",children:"Expires"}),i("th",{scope:"col",children:"Target"}),i("th",{scope:"col",children:"Rules by path"})]})}),i("tbody",{children:versions.
map(([name,version])=>i("tr",{children:[i("th",{scope:"row",children:i(Text,{children:name})}),i("td",{children:version.expires||"never"}),i("td",{children:version.
override_target?i(Text,{mono:!0,children:version.override_target}):"the API's"}),i("td",{children:Object.entries(version.extended_paths??{}).filter(([,list])=>Array.
isArray(list)&&list.length).map(([kind,list])=>i(Badge,{tone:"muted",children:[kind," ",list.length]},kind))})]},name))})]})})}var SOON_DAYS=30,DAY_S=86400;function state2(ends2,starts=0){let now2=Date.now()/1e3;return Number.isFinite(ends2)?ends2<=now2?["bad","expired"]:starts>now2?["w\
arn","not yet valid"]:ends2<now2+SOON_DAYS*DAY_S?["warn","ends soon"]:["ok","valid"]:["muted","no end"]}var seconds=date2=>Date.parse(date2)/1e3,of=row2=>state2(
seconds(row2.not_after),seconds(row2.not_before));function Certificates(){let q=route.value.query,list=useList("certs",{q:q.get("q")??void 0,sort:q.get("sort")??
"not_after"}),[open,setOpen]=w(null),[adding,setAdding]=w(!1),can=may("editor");return i($,{children:[i("div",{class:"page-head",children:[i("h1",{children:["Ce\
rtificates",list.total!=null&&i("small",{children:count(list.total)})]}),i(Filter,{label:"Filter certificates",placeholder:"Name, subject, issuer"}),can&&i(Button,
{icon:"plus",kind:"primary","data-key":"n",onClick:()=>setAdding(!0),children:"Add certificate"})]}),!can&&i("p",{class:"list-end",children:"Your role can view \
certificates, not change them."}),i(Table,{label:"Certificates",list,id:row2=>row2.id,open:setOpen,order:"not_after",tone:row2=>of(row2)[1]==="expired"?"expired":
void 0,empty:i(Empty,{icon:"certificate",title:q.get("q")?"No certificate matches.":"No certificate was uploaded.",children:q.get("q")?null:"Upload certificates\
 for TLS, of clients and for upstreams. Those in files are below while they are in use."}),columns:[{id:"subject",name:"For",sort:"subject_cn",grow:!0,show:row2=>i(
"a",{href:"#",onClick:event=>{event.preventDefault(),setOpen(row2)},children:i(Text,{children:row2.dns_names?.join(", ")||row2.subject_cn})})},{id:"state",bare:!0,
name:"State",show:row2=>i(Badge,{tone:of(row2)[0],children:of(row2)[1]})},{id:"ends",name:"Ends",sort:"not_after",number:!0,show:row2=>i("span",{class:of(row2)[1]===
"expired"?"bad":"",title:full(seconds(row2.not_after)),children:ago(seconds(row2.not_after))})},{id:"issuer",name:"Issuer",show:row2=>i(Text,{children:row2.issuer_cn||
"unknown"})},{id:"kind",name:"Holds",show:row2=>row2.has_private?"certificate and key":"certificate"},{id:"used",name:"Used by",show:row2=>i(Users,{row:row2})}]}),
i(Issued,{}),i(InService,{}),open&&i(One3,{row:open,close:()=>setOpen(null),changed:list.reload,can}),adding&&i(Add,{close:()=>setAdding(!1),changed:list.reload})]})}
function Users({row:row2}){return row2.used_by?row2.used_by.length?i($,{children:row2.used_by.map((one,at)=>i("span",{children:[at>0&&", ",one.what==="api"?i("a",
{href:link(["apis",one.id]),children:i(Text,{children:one.id})}):i(Text,{children:"the configuration"})]},at))}):i("small",{title:"Keys may name it",children:"n\
o API"}):i("small",{children:UNKNOWN})}var STATES2={wanted:"warn",served:"ok",failing:"warn",ended:"bad"};function Issued(){let now2=useLoaded(()=>get("acme",{byItself:!0}),
[0]),rows=now2.value?.certificates??[],renew=async row2=>{try{await call("POST",`acme/${segment(row2.name)}/renew`),say("ok","It is renewed within seconds.")}catch(failed){
say("bad",failed instanceof Error?failed.message:"It was not renewed.")}now2.again()};return rows.length?i(Panel,{title:"From an issuer",note:"certificates that\
 the gateways get and renew by themselves",children:i("div",{class:"scroll-x",tabIndex:0,role:"region","aria-label":"Certificates from an issuer",children:i("ta\
ble",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"For"}),i("th",{scope:"col",children:"State"}),i("th",{scope:"c\
ol",children:"Issuer"}),i("th",{scope:"col",class:"number",children:"Ends"}),i("th",{scope:"col",class:"number",children:"Renewal"}),may("admin")&&i("th",{scope:"\
col",children:i("span",{class:"sr",children:"Actions"})})]})}),i("tbody",{children:rows.map(row2=>i("tr",{children:[i("th",{scope:"row",class:"roomy",children:[
i(Text,{children:row2.name.split(",").join(", ")}),row2.on_demand&&i("small",{children:" on demand"}),row2.error&&i($,{children:[i("br",{}),i("small",{children:[
i(Text,{children:row2.error}),row2.again>0&&i($,{children:["; tried again ",ago(row2.again)]})]})]})]}),i("td",{children:i(Badge,{tone:STATES2[row2.state],children:row2.
state})}),i("td",{children:i(Text,{children:row2.issuer?row2.issuer.split("/")[2]??row2.issuer:""})}),i("td",{class:"number",title:row2.ends?full(row2.ends):"",
children:row2.ends?ago(row2.ends):""}),i("td",{class:"number",title:row2.renewal?full(row2.renewal):"",children:row2.renewal?ago(row2.renewal):""}),may("admin")&&
i("td",{children:i(Button,{onClick:()=>{renew(row2)},"aria-label":`Renew ${row2.name}`,children:"Renew"})})]},row2.name))})]})})}):null}function InService(){let rows=useLoaded(
()=>get("live?apis=0",{byItself:!0}),[0]).value?.certificates??[];return rows.length?i(Panel,{class:"after",title:"In service",note:"what this gateway has loade\
d, from files too",children:i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Source"}),i("th",{scope:"col",
children:"For"}),i("th",{scope:"col",children:"State"}),i("th",{scope:"col",class:"number",children:"Ends"})]})}),i("tbody",{children:rows.map((row2,at)=>{let[tone2,
word]=state2(row2.not_after_unix_s);return i("tr",{children:[i("th",{scope:"row",children:i(Text,{mono:!0,children:row2.source})}),i("td",{children:i(Text,{children:row2.
subject})}),i("td",{children:i(Badge,{tone:tone2,children:word})}),i("td",{class:`number ${word==="expired"?"bad":""}`,title:full(row2.not_after_unix_s),children:ago(
row2.not_after_unix_s)})]},at)})})]})}):null}function One3({row:row2,close,changed,can}){let[failure,setFailure]=w(null),[sure,setSure]=w(!1),used=row2.used_by?.
length??0,remove2=async()=>{try{await call("DELETE",`certs/${segment(row2.id)}`),say("ok","Certificate removed."),changed(),close()}catch(failed){setSure(!1),setFailure(
failed)}};return sure?i(Dialog,{title:"Remove this certificate?",close:()=>setSure(!1),footer:i($,{children:[i(Button,{onClick:()=>setSure(!1),children:"Keep it"}),
i(Button,{kind:"danger",onClick:()=>{remove2()},children:"Remove"})]}),children:i("p",{children:[i("b",{children:i(Text,{children:row2.dns_names?.[0]??row2.subject_cn})}),
" is removed, with its private key. ",used?`${used} ${used===1?"use":"uses"} of it fail from then on.`:"APIs that name its id can use it no longer."]})}):i(Dialog,
{title:visible(row2.dns_names?.[0]??row2.subject_cn),close,footer:can&&!row2.file?i(Button,{kind:"danger",onClick:()=>setSure(!0),children:"Remove"}):void 0,children:[
failure?i(ErrorBox,{failure}):null,i(Facts,{children:[i(Fact,{name:"State",children:i(Badge,{tone:of(row2)[0],children:of(row2)[1]})}),i(Fact,{name:"Valid",children:[
full(seconds(row2.not_before))," to ",full(seconds(row2.not_after))]}),i(Fact,{name:"Subject",children:i(Text,{children:row2.subject_cn})}),i(Fact,{name:"Names",
children:i(Text,{children:row2.dns_names?.join(", ")||"none"})}),i(Fact,{name:"Issuer",children:i(Text,{children:row2.issuer_cn||"unknown"})}),i(Fact,{name:"May\
 sign others",children:row2.is_ca?"yes":"no"}),i(Fact,{name:"Private key",children:row2.has_private?"kept with it":"not kept here"}),i(Fact,{name:"Used by",children:i(
Users,{row:row2})}),i(Fact,{name:"Id",children:i(Text,{mono:!0,children:row2.id})})]})]})}function Add({close,changed}){let[pem,setPem]=w(""),[failure,setFailure]=w(
null),add=async event=>{event.preventDefault();try{await ask("POST","certs?org_id=default",pem,{headers:{"Content-Type":"text/plain"}}),say("ok","Certificate ad\
ded."),changed(),close()}catch(failed){setFailure(failed)}};return i(Dialog,{title:"Add a certificate",close,footer:i($,{children:[i(Button,{onClick:close,children:"\
Cancel"}),i(Button,{kind:"primary",type:"submit",form:"new-cert",disabled:!pem.includes("-----BEGIN"),children:"Add"})]}),children:i("form",{id:"new-cert",class:"\
stack",onSubmit:add,children:[failure?i(ErrorBox,{failure}):null,i(Field,{label:"PEM",hint:"The certificate, then its private key if the gateway is to use it fo\
r TLS. A key is never shown again.",children:i("textarea",{autofocus:!0,rows:12,spellcheck:!1,value:pem,onInput:event=>setPem(event.currentTarget.value),placeholder:"\
-----BEGIN CERTIFICATE-----"})})]})})}function Clients(){let q=route.value.query,list=useList("clients",{q:q.get("q")??void 0,sort:q.get("sort")??"id"}),[open,setOpen]=w(null),can=may("editor");return i(
$,{children:[i("div",{class:"page-head",children:[i("h1",{children:["OAuth clients",list.total!=null&&i("small",{children:count(list.total)})]}),i(Filter,{label:"\
Filter clients",placeholder:"Client, description, API"}),can&&i(Button,{icon:"plus",kind:"primary","data-key":"n",onClick:()=>refine({new:"1"}),children:"New cl\
ient"})]}),!can&&i("p",{class:"list-end",children:"Your role can view clients, not change them."}),i(Table,{label:"OAuth clients",list,id:row2=>`${row2.api_id} ${row2.
id}`,open:setOpen,order:"id",empty:i(Empty,{icon:"client",title:q.get("q")?"No client matches.":"There is no OAuth client yet.",children:q.get("q")?null:"A clie\
nt is a program that gets access tokens from an API with OAuth 2.0."}),columns:[{id:"id",name:"Client",sort:"id",grow:!0,show:row2=>i(Text,{mono:!0,children:row2.
id})},{id:"kind",bare:!0,name:"Kind",show:row2=>i(Badge,{tone:"muted",children:row2.public?"public":"confidential"})},{id:"api",name:"API",show:row2=>i("a",{href:link(
["apis",row2.api_id]),children:i(Text,{children:row2.api_id})})},{id:"description",name:"Description",show:row2=>i(Text,{children:row2.description})},{id:"polic\
y",name:"Policy",show:row2=>row2.policy_id?i("a",{href:link(["policies"],{open:row2.policy_id}),children:i(Text,{children:row2.policy_id})}):"none"},{id:"redire\
ct",name:"Redirect",show:row2=>i(Text,{mono:!0,children:row2.redirect_uri})}]}),open&&i(Client,{row:open,close:()=>setOpen(null),changed:list.reload,can}),q.get(
"new")&&can&&i(NewClient,{close:()=>refine({new:void 0}),changed:list.reload})]})}function Once({id,secret}){return i($,{children:[i(Note,{tone:"warn",icon:"ale\
rt",children:"This is the only time the secret is shown."}),i(Facts,{children:i(Fact,{name:"Client",children:i("code",{children:id})})}),i("div",{class:"line",children:[
i("code",{class:"big-code",children:secret}),i(Button,{icon:"copy",onClick:()=>{copy(secret,"Secret copied")},children:"Copy"})]})]})}function Client({row:row2,
close,changed,can}){let[secret,setSecret]=w(null),[failure,setFailure]=w(null),[sure,setSure]=w(null),base=`oauth/clients/${segment(row2.api_id)}/${segment(row2.
id)}`,does={rotate:async()=>{let found2=await call("PUT",`${base}/rotate`);setSecret(found2.secret??found2.client_secret)},tokens:async()=>{await call("DELETE",
`${base}/tokens`),say("ok","All its tokens are revoked."),close()},delete:async()=>{await call("DELETE",base),say("ok","Client deleted, with its tokens."),changed(),
close()}},ask2={rotate:["Rotate the secret?","The old secret stops working now. Tokens stay valid.","Rotate"],tokens:["Revoke all its tokens?","Requests with th\
em are refused from now on.","Revoke"],delete:["Delete this client?","It gets no tokens any more, and those it has are revoked.","Delete"]},run=async()=>{let what=sure;
setSure(null),setFailure(null);try{await does[what]()}catch(failed){setFailure(failed)}};return secret?i(Dialog,{title:"New secret",close,footer:i(Button,{kind:"\
primary",onClick:close,children:"Done"}),children:i(Once,{id:row2.id,secret})}):sure?i(Dialog,{title:ask2[sure][0],close:()=>setSure(null),footer:i($,{children:[
i(Button,{onClick:()=>setSure(null),children:"Cancel"}),i(Button,{kind:"danger",onClick:()=>{run()},children:ask2[sure][2]})]}),children:i("p",{children:ask2[sure][1]})}):
i(Dialog,{title:row2.id,close,footer:can?i($,{children:[!row2.public&&i(Button,{onClick:()=>setSure("rotate"),children:"Rotate secret"}),i(Button,{onClick:()=>setSure(
"tokens"),children:"Revoke tokens"}),i(Button,{kind:"danger",onClick:()=>setSure("delete"),children:"Delete"})]}):void 0,children:[failure?i(ErrorBox,{failure}):
null,i(Facts,{children:[i(Fact,{name:"API",children:i("a",{href:link(["apis",row2.api_id]),children:i(Text,{children:row2.api_id})})}),i(Fact,{name:"Description",
children:i(Text,{children:row2.description||"none"})}),i(Fact,{name:"Kind",children:row2.public?"public: without a secret, with PKCE":"confidential"}),i(Fact,{name:"\
Policy",children:i(Text,{children:row2.policy_id||"none"})}),i(Fact,{name:"Redirect",children:i(Text,{mono:!0,children:row2.redirect_uri||"none"})})]})]})}function NewClient({
close,changed}){let[apis2,setApis]=w([]),[policies,setPolicies]=w([]),[form,setForm]=w({api_id:"",client_id:"",description:"",redirect_uri:"",policy_id:""}),[made,
setMade]=w(null),[failure,setFailure]=w(null);S(()=>{get("list/apis?limit=500").then(page=>{let rows=page.rows.filter(one=>one.auth.includes("oauth"));setApis(rows),
rows[0]&&setForm(old=>({...old,api_id:old.api_id||rows[0].id}))},setFailure),get("list/policies?limit=200").then(page=>setPolicies(page.rows),()=>{})},[]);let set2=name=>event=>setForm(
{...form,[name]:event.currentTarget.value}),make=async event=>{event.preventDefault(),setFailure(null);try{setMade(await call("POST","oauth/clients/create",form)),
changed()}catch(failed){setFailure(failed)}};return made?i(Dialog,{title:"The client is made",close,footer:i(Button,{kind:"primary",onClick:close,children:"Done"}),
children:i(Once,{id:made.client_id,secret:made.secret??made.client_secret})}):i(Dialog,{title:"New OAuth client",close,footer:i($,{children:[i(Button,{onClick:close,
children:"Cancel"}),i(Button,{kind:"primary",type:"submit",form:"new-client",disabled:!form.api_id,children:"Make the client"})]}),children:i("form",{id:"new-cl\
ient",class:"form",onSubmit:make,children:[failure?i("div",{class:"field wide",children:i(ErrorBox,{failure})}):null,apis2.length===0&&i("div",{class:"field wid\
e",children:i(Note,{tone:"warn",icon:"alert",children:["No API uses OAuth 2.0. Switch it on in the definition of one first (",i("code",{children:"use_oauth2"}),
")."]})}),i(Field,{label:"API",wide:!0,children:i("select",{value:form.api_id,onChange:set2("api_id"),children:apis2.map(one=>i("option",{value:one.id,children:one.
name||one.id},one.id))})}),i(Field,{label:"Client id",hint:"Empty: random.",children:i("input",{class:"mono",value:form.client_id,onInput:set2("client_id")})}),
i(Field,{label:"Policy",children:i("select",{value:form.policy_id,onChange:set2("policy_id"),children:[i("option",{value:"",children:"none"}),policies.map(one=>i(
"option",{value:one.id,children:one.name||one.id},one.id))]})}),i(Field,{label:"Redirect",wide:!0,hint:"Where the browser returns with a code.",children:i("inpu\
t",{class:"mono",value:form.redirect_uri,onInput:set2("redirect_uri"),placeholder:"https://app.example/callback"})}),i(Field,{label:"Description",wide:!0,children:i(
"input",{value:form.description,onInput:set2("description")})})]})})}function KeyPage(){let[,id=""]=route.value.parts,loaded2=useLoaded(()=>found(id),[id]),path=loaded2.value?.path??"",seen=useLoaded(async()=>path&&!isScoped()?await last(
path):null,[path]),[doing,setDoing]=w(null),[failure,setFailure]=w(null),can=may("editor");if(loaded2.failure&&!loaded2.value)return loaded2.failure instanceof Failure&&
loaded2.failure.status===404?i(Empty,{icon:"key",title:loaded2.failure.message==="Key is not found"?"There is no such key.":loaded2.failure.message,children:["I\
t may have been revoked, or have expired.",i("br",{}),i(LinkButton,{href:link(["keys"],{q:route.value.query.get("alias")??void 0}),children:route.value.query.get(
"alias")?"Keys with this alias":"All keys"})]}):i(ErrorBox,{failure:loaded2.failure,retry:loaded2.again});if(!loaded2.value)return null;let{value:key,etag}=loaded2.
value,expired=key.expires>0&&key.expires*1e3<Date.now(),rights=Object.entries(key.access_rights??{}),policies=key.apply_policies??(key.apply_policy_id?[key.apply_policy_id]:
[]),patch=async(change,words,extra="")=>{setFailure(null);try{await call("PATCH",`${path}${extra}`,change,etag?{headers:{"If-Match":etag}}:{}),say("ok",words),loaded2.
again(),setDoing(null)}catch(failed){failed instanceof Failure&&failed.status===412?(loaded2.again(),setFailure(new Failure(412,"Somebody else changed this key \
since it was shown. Their version is shown now; try again."))):setFailure(failed),setDoing(null)}},revoke=async()=>{try{await call("DELETE",path),say("ok","The \
key is revoked. The next request with it is refused."),go("#/keys")}catch(failed){setFailure(failed),setDoing(null)}};return i($,{children:[i("p",{class:"crumbs",
children:[i("a",{href:"#/keys",children:"Keys"}),i(Icon,{name:"right"}),i("span",{class:"mono",children:i(Text,{children:short(id)})})]}),i("div",{class:"page-h\
ead",children:[i("h1",{children:i(Text,{children:key.alias||"Key without alias"})}),expired?i(Badge,{tone:"warn",children:"expired"}):key.is_inactive?i(Badge,{tone:"\
muted",children:"inactive"}):i(Badge,{tone:"ok",children:"active"}),i(LinkButton,{icon:"tail",kind:"quiet",href:refusals(id,key.alias,path),children:"Why refuse\
d?"}),can&&i($,{children:[i(Button,{icon:"clock","data-key":"e",onClick:()=>setDoing("extend"),children:"Extend"}),i(Button,{onClick:()=>{patch({is_inactive:!key.
is_inactive},key.is_inactive?"The key is active.":"The key is inactive: its requests are refused until you activate it.")},children:key.is_inactive?"Activate":"\
Deactivate"}),i(Button,{kind:"danger",onClick:()=>setDoing("revoke"),children:"Revoke"})]})]}),!can&&i("p",{class:"list-end",children:"Your role can view keys, \
not change them."}),failure?i(ErrorBox,{failure}):null,i("div",{class:"two",children:[i(Panel,{title:"Limits",children:i("div",{class:"body",children:i(Facts,{children:[
i(Fact,{name:"Rate",children:key.rate>0?`${count(key.rate)} per ${key.per} s`:"no limit"}),(key.limits??[]).map((one,at)=>i(Fact,{name:"and",children:`${count(one.
rate)} per ${one.per} s`},at)),i(Fact,{name:"Quota",children:key.quota_max>0?i("span",{class:"row",children:[i(Meter,{used:key.quota_max-key.quota_remaining,max:key.
quota_max}),i("small",{children:["renews ",i(Ago,{at:key.quota_renews})]}),can&&i(Button,{kind:"quiet",onClick:()=>{patch({},"The quota starts anew.","&reset=qu\
ota")},children:"Reset"})]}):"no quota"}),i(Fact,{name:"Expires",children:key.expires>0?i($,{children:[i(Ago,{at:key.expires})," ",i("small",{children:full(key.
expires)})]}):"never"}),i(Fact,{name:"Policies",children:policies.length?policies.map((policy,at)=>i("span",{children:[at>0&&", ",i("a",{href:link(["policies"],
{open:policy}),children:i(Text,{children:policy})})]},policy)):"none: its limits are its own"}),key.throttle_retry_limit>0&&i(Fact,{name:"Throttle",children:[key.
throttle_retry_limit," tries, every ",key.throttle_interval," s"]})]})})}),i(Panel,{title:"Key",children:i("div",{class:"body",children:i(Facts,{children:[i(Fact,
{name:"Id",children:i(Text,{mono:!0,children:id})}),!isScoped()&&i(Fact,{name:"Last seen",children:seen.value?i(Ago,{at:seen.value}):seen.failure?i("small",{children:"\
usage is not recorded"}):seen.waiting?UNKNOWN:"never, as far as usage is kept"}),i(Fact,{name:"Organisation",children:i(Text,{children:key.org_id||"none"})}),i(
Fact,{name:"Created",children:key.date_created?i(Text,{children:key.date_created}):UNKNOWN}),i(Fact,{name:"Tags",children:key.tags?.length?i(Text,{children:key.
tags.join(", ")}):"none"}),Object.entries(key.meta_data??{}).map(([name,value])=>i(Fact,{name:visible(name),children:i(Text,{children:typeof value=="string"?value:
JSON.stringify(value)})},name))]})})})]}),i(Panel,{title:"May call",note:`${rights.length} ${rights.length===1?"API":"APIs"}`,children:rights.length===0?i("div",
{class:"empty small",children:"No API: every request with it is refused."}):i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"\
col",children:"API"}),i("th",{scope:"col",children:"Versions"}),i("th",{scope:"col",children:"Only these paths"}),i("th",{scope:"col",children:"Limit of its own"})]})}),
i("tbody",{children:rights.map(([api,right])=>i("tr",{children:[i("th",{scope:"row",children:i("a",{href:link(["apis",api]),children:i(Text,{children:right.api_name||
api})})}),i("td",{children:i(Text,{children:(right.versions??[]).join(", ")})}),i("td",{children:right.allowed_urls?.length?i(Text,{mono:!0,children:right.allowed_urls.
map(one=>`${(one.methods??[]).join(",")} ${one.url}`).join("; ")}):"all"}),i("td",{children:right.limit?.rate>0||right.limit?.quota_max>0?limit(right.limit):"th\
e key's"})]},api))})]})}),!isScoped()&&i(KeyBudgets,{path,own:key.llm_budgets??[],can,save:budgets=>patch({llm_budgets:budgets.length?budgets:null},"The budgets\
 are saved. They hold from the next request on.")}),doing==="extend"&&i(Extend,{expires:key.expires,close:()=>setDoing(null),save:expires=>{patch({expires},expires?
`Valid until ${full(expires)}.`:"Valid until revoked.")}}),doing==="revoke"&&i(Dialog,{title:"Revoke this key?",close:()=>setDoing(null),footer:i($,{children:[i(
Button,{onClick:()=>setDoing(null),children:"Keep it"}),i(Button,{kind:"danger",onClick:()=>{revoke()},children:"Revoke"})]}),children:i("p",{children:["The nex\
t request with ",i("b",{children:i(Text,{children:key.alias||short(id)})})," is refused, on every gateway. This cannot be undone; a new key is a new secret."]})})]})}
async function found(id){let alias=route.peek().query.get("alias");for(let path2 of[`keys/${segment(id)}?by=id`,`keys/${segment(id)}?hashed=true`])try{return{...await ask(
"GET",path2),path:path2}}catch(failure){if(!(failure instanceof Failure)||![400,404].includes(failure.status))throw failure}let rows=(alias?await listKeys({q:alias,
limit:1e3}):{rows:[]}).rows.filter(row2=>row2.hash?row2.hash===id:row2.alias===alias);if(rows.length!==1)throw new Failure(404,rows.length?`${rows.length} keys \
have this alias.`:"There is no such key.");let path=`keys/${segment(rows[0].id)}?${rows[0].by}`;return{...await ask("GET",path),path}}async function last(path){
let[,id="",by=""]=/^keys\/([^?]*)\?(.*)$/.exec(path)??[];return(await get(`usage/last_seen${query({key:decodeURIComponent(id),by:by==="by=id"?"id":void 0,nodes:"\
all"})}`)).last_seen_unix_s}function refusals(id,alias,path){let hash=route.peek().query.get("hash")??(path.includes("hashed")||!path.includes(segment(id))?id:void 0);
return link(["live"],hash?{key:hash}:alias?{alias}:{key:id})}function Extend({expires=0,save,close}){let[span2,setSpan]=w(2592e3),from=Math.max(expires,Date.now()/
1e3),until=span2?Math.round(from+span2):0;return i(Dialog,{title:"Extend this key",close,footer:i($,{children:[i(Button,{onClick:close,children:"Cancel"}),i(Button,
{kind:"primary",onClick:()=>save(until),children:"Extend"})]}),children:[expires>0?null:i(Note,{children:"It does not expire now. This gives it an end."}),i(Field,
{label:"By",children:i("select",{value:span2,onChange:event=>setSpan(Number(event.currentTarget.value)),children:[SPANS.map(([seconds2,name])=>i("option",{value:seconds2,
children:name},seconds2)),i("option",{value:0,children:"without end"})]})}),i("p",{children:["Until: ",i("b",{children:until?full(until):"revoked"})]})]})}var KEYS_MAX2=100,ANSWER_BYTES2=1<<20,SHOW_EVERY_MS=60;function Playground({close}){let known=useLoaded(()=>get("llm/overview"),[0]),apis2=known.value?.apis??[],
[api,setApi]=w(""),id=api||apis2[0]||"",definition=useLoaded(()=>id?get(`apis/${segment(id)}`):Promise.resolve(null),[id]);return may("editor")?i(Dialog,{title:"\
Playground",close,side:!0,children:[known.failure?i(ErrorBox,{failure:known.failure,retry:known.again}):null,definition.failure?i(ErrorBox,{failure:definition.failure,
retry:definition.again}):null,known.value&&apis2.length===0&&i(Note,{children:["No API has ",i("code",{children:"tollgate.llm"})," yet, so there is no model to \
ask."]}),apis2.length>1&&i("div",{class:"form",children:i(Field,{label:"API",wide:!0,children:i("select",{value:id,onChange:event=>setApi(event.currentTarget.value),
children:apis2.map(one=>i("option",{value:one,children:visible(one)},one))})})}),id&&definition.value&&i(Talk,{id,definition:definition.value},id)]}):i(Dialog,{
title:"Playground",close,children:i(Note,{children:"Your role can view, not send requests."})})}function modelsOf(definition){let llm=definition?.tollgate?.llm??
{},names=[...(llm.models??[]).map(one=>one?.name),...(llm.providers??[]).flatMap(one=>one?.models??[])];return[...new Set(names.filter(name=>typeof name=="strin\
g"&&name&&!name.includes("*")))]}function Talk({id,definition}){let models=modelsOf(definition),[model,setModel]=w(models[0]??""),[key,setKey]=w(""),[keyId,setKeyId]=w(
""),[prompt,setPrompt]=w(""),[tokens,setTokens]=w("400"),[text,setText]=w(""),[first,setFirst]=w(null),[found2,setFound]=w(null),[failure,setFailure]=w(null),running=U(
null),[busy,setBusy]=w(!1);S(()=>()=>running.current?.abort(),[]);let keys=useLoaded(()=>definition.use_keyless?Promise.resolve([]):listKeys({limit:1e3}).then(page=>page.
rows.filter(one=>one.apis?.includes(id)||one.policies?.length).slice(0,KEYS_MAX2),()=>[]),[id]),header2=headerOf(definition),path=`${String(definition.proxy?.listen_path??
"/").replace(/\/$/,"")}/v1/chat/completions`;return i($,{children:[i("form",{class:"form",onSubmit:async event=>{event.preventDefault();let abort=new AbortController;
running.current=abort,setBusy(!0),setFailure(null),setFound(null),setText(""),setFirst(null);let body={model,stream:!0,stream_options:{include_usage:!0},messages:[
{role:"user",content:prompt}]};tokens&&(body.max_tokens=Number(tokens));let headers={"Content-Type":"application/json"};key&&!keyId&&(headers[header2]=key);let asked={
api_id:id,method:"POST",path,host:definition.domain??"",headers,body:JSON.stringify(body),body_bytes:ANSWER_BYTES2,key_id:keyId,key_header:header2},began=performance.
now(),reader=new Reader,shown3=0;try{let ended=await stream(asked,abort.signal,piece=>{reader.push(piece),reader.text&&!reader.begun&&(reader.begun=!0,setFirst(
performance.now()-began)),performance.now()-shown3>SHOW_EVERY_MS&&(shown3=performance.now(),setText(reader.text))});setText(reader.text),setFound(ended)}catch(failed){
setText(reader.text),abort.signal.aborted||setFailure(failed)}finally{setBusy(!1),running.current=null}},children:[!definition.use_keyless&&i(Field,{label:"Whos\
e key",wide:!0,hint:keyId?"The gateway sends it; it is not shown.":void 0,children:i("select",{value:keyId,onChange:event=>setKeyId(event.currentTarget.value),children:[
i("option",{value:"",children:"One that you paste, or none"}),(keys.value??[]).map(one=>i("option",{value:one.id,children:visible(one.alias||one.id)},one.id))]})}),
!definition.use_keyless&&!keyId&&i(Field,{label:`Key (${header2})`,wide:!0,hint:"Sent as a client sends it; it is not kept.",children:i("input",{class:"mono",type:"\
password",autocomplete:"off",value:key,onInput:event=>setKey(event.currentTarget.value)})}),i(Field,{label:"Model",children:[i("input",{class:"mono",required:!0,
list:"models",spellcheck:!1,value:model,onInput:event=>setModel(event.currentTarget.value)}),i("datalist",{id:"models",children:models.map(one=>i("option",{value:one},
one))})]}),i(Field,{label:"Tokens at most",children:i("input",{class:"mono",inputMode:"numeric",pattern:"[1-9][0-9]{0,6}",value:tokens,onInput:event=>setTokens(
event.currentTarget.value)})}),i(Field,{label:"Prompt",wide:!0,children:i("textarea",{rows:4,required:!0,autofocus:!0,value:prompt,onInput:event=>setPrompt(event.
currentTarget.value),onKeyDown:event=>{event.key==="Enter"&&(event.ctrlKey||event.metaKey)&&event.currentTarget.form?.requestSubmit()}})}),i("div",{class:"row w\
ide",children:[busy?i(Button,{icon:"close",onClick:()=>running.current?.abort(),children:"Stop"}):i(Button,{kind:"primary",icon:"play",type:"submit",children:"A\
sk"}),i("small",{children:"Goes through this gateway only, counts against limits and budgets, and costs what it costs a client. The prompt is not stored."})]})]}),
failure?i(ErrorBox,{failure}):null,(busy||text||found2)&&i("div",{class:"stack",role:"region","aria-label":"Answer","aria-busy":busy,children:[found2&&found2.status!==
200&&i(Refusal,{found:found2}),(busy||text)&&i("pre",{class:"document answer",tabIndex:0,"aria-live":"polite",children:text?text.split(`
`).map(visible).join(`
`):"Waiting for the first token"}),found2&&i(Took,{found:found2,first}),found2&&i("details",{children:[i("summary",{children:"The request through the gateway"}),
i(Result,{found:found2,asked:id,secret:key})]})]})]})}function Refusal({found:found2}){let refused=found2.steps.find(step=>step.decision==="refuse"),said="";try{
let body=JSON.parse(found2.body);said=String(body?.error?.message??body?.error??"")}catch{said=found2.error}return i("div",{class:"why bad",children:i("p",{children:[
refused?i($,{children:["Refused by ",i("b",{children:refused.name}),": "]}):i($,{children:[i("b",{children:found2.status||"No answer"}),": "]}),i(Text,{children:said||
refused?.message||found2.error})]})})}function Took({found:found2,first}){let llm=found2.llm;if(!llm)return i(Note,{children:["What it took is not known, becaus\
e nothing is recorded (enable_analytics).",first!=null&&i($,{children:[" The first token came after ",duration(first*1e3),", the whole answer after ",duration(found2.
took_ms*1e3),"."]})]});let[tone2,word]=outcome(llm.outcome);return i($,{children:[i(Facts,{children:[i(Fact,{name:"Outcome",children:[i(Badge,{tone:tone2,children:word}),
" ",llm.reason&&i(Text,{children:llm.reason}),llm.budget&&llm.outcome==="ok"&&i($,{children:[", ended where the budget ",i(Text,{children:llm.budget})," bounds \
it"]}),llm.finish==="length"&&!llm.budget&&"ended at its bound of tokens"]}),llm.provider&&i(Fact,{name:"Answered by",children:[i(Text,{children:llm.provider_model}),
" at ",i(Text,{children:llm.provider})]}),i(Fact,{name:"Tokens",children:[count(llm.input_tokens)," of the prompt",llm.cached_tokens>0&&` (${count(llm.cached_tokens)}\
 cached)`,", ",count(llm.output_tokens)," of the answer",llm.reasoning_tokens>0&&` (${count(llm.reasoning_tokens)} reasoning)`]}),i(Fact,{name:"Cost",children:[
usd(llm.cost_usd),llm.estimated&&", estimated"]}),i(Fact,{name:"Time",children:[llm.first_token_ms!=null&&i($,{children:[duration(llm.first_token_ms*1e3)," unti\
l the first token, "]}),duration(found2.took_ms*1e3)," in all",llm.tokens_per_s!=null&&i($,{children:[", ",rate(llm.tokens_per_s)," tokens/s"]})]})]}),llm.attempts.
length>1&&i("div",{children:[i("h3",{children:"Providers"}),i("ol",{class:"steps",children:llm.attempts.map((one,at)=>i("li",{class:outcome(one.outcome)[0],children:[
i("span",{}),i("span",{children:[i(Text,{children:one.model})," at ",i(Text,{children:one.provider}),one.reason&&i("small",{children:[" ",i(Text,{children:one.reason})]})]}),
i("small",{children:outcome(one.outcome)[1]}),i("small",{children:duration(one.took_ms*1e3)})]},at))})]})]})}var Reader=class{text="";begun=!1;rest="";push(piece){
this.rest+=piece;let lines2=this.rest.split(`
`);this.rest=lines2.pop()??"";for(let line of lines2)if(line.startsWith("data:"))try{let delta=JSON.parse(line.slice(5))?.choices?.[0]?.delta;typeof delta?.content==
"string"&&(this.text+=delta.content)}catch{}}};async function stream(asked,signal,take){let response=await fetch("api/debug/stream",{method:"POST",headers:{"X-T\
ollgate-Console":"1","Content-Type":"application/json"},body:JSON.stringify(asked),signal,credentials:"same-origin",cache:"no-store"});if(!response.ok||!response.
body){let said=await response.json().catch(()=>({}));throw new Failure(response.status,said.message??said.error??`The gateway answered with status ${response.status}\
.`,said)}let reader=response.body.pipeThrough(new TextDecoderStream).getReader(),rest="";for(;;){let{value,done}=await reader.read();if(done)throw new Failure(0,
"The gateway ended the answer.");rest+=value;let events2=rest.split(`

`);rest=events2.pop()??"";for(let event of events2){let data=event.slice(event.indexOf(`
data: `)+7);if(event.startsWith("event: piece")&&take(JSON.parse(data)),event.startsWith("event: end"))return JSON.parse(data)}}}var SPANS3=[["24h","24 h",86400],["7d","7 d",7*86400],["30d","30 d",30*86400],["90d","90 d",90*86400]],SPLITS=[["model","model","model"],["provider","provider",
"provider"],["key","key","key"],["team","team","team"],["policy","policy","policy"],["org","organisation","org"],["api","API","api_id"]],COLORS=["accent","warn",
"violet","teal","pink","olive","ok","muted"],ROWS2=50;function Models(){let q=route.value.query,last2=SPANS3.some(([id])=>id===q.get("last"))?q.get("last"):"30d",
seconds2=SPANS3.find(([id])=>id===last2)[2],by=SPLITS.some(([id])=>id===q.get("split"))?q.get("split"):"model",filters=Object.fromEntries(SPLITS.flatMap(([,,name2])=>q.
get(name2)?[[name2,q.get(name2)]]:[])),[trying,setTrying]=w(!1),turn=Math.floor(tick.value/15),asked=JSON.stringify([last2,by,filters]),of2=members=>get(`llm/sp\
end${query({last:last2,nodes:"all",...filters,...members})}`,{byItself:!0}),table=useLoaded(()=>of2({by,top:ROWS2}),[asked,turn]),timed=useLoaded(()=>of2({by:"t\
ime",split:by,step:seconds2>3*86400?"1d":"1h",top:1e4}),[asked,turn]),name=SPLITS.find(([id])=>id===by)[1],none=table.failure instanceof Failure&&table.failure.
status===404,failure=none?null:table.failure??timed.failure,found2=table.value,missing=found2?.missing??[];return i($,{children:[i("div",{class:"page-head",children:[
i("h1",{class:"page",children:"Models"}),may("editor")&&i(Button,{kind:"primary",icon:"play",class:"push",onClick:()=>setTrying(!0),children:"Playground"})]}),i(
"div",{class:"toolbar",children:[i("div",{class:"segments",role:"group","aria-label":"Span",children:SPANS3.map(([id,title])=>i("button",{type:"button","aria-pr\
essed":last2===id,onClick:()=>refine({last:id}),children:title},id))}),i("label",{class:"row",children:["by ",i("select",{"aria-label":"Split by",value:by,onChange:event=>refine(
{split:event.currentTarget.value}),children:SPLITS.map(([id,title])=>i("option",{value:id,children:title},id))})]}),Object.entries(filters).map(([filter,value])=>i(
"span",{class:"chip",children:[i("bdi",{children:[filter.replace("_id",""),": ",visible(value)]}),i("button",{type:"button","aria-label":`Remove the filter ${filter}`,
onClick:()=>refine({[filter]:void 0}),children:i(Icon,{name:"close"})})]},filter)),i(Button,{icon:"download",class:"push",disabled:!found2,onClick:()=>{download(
`llm/spend${query({last:last2,nodes:"all",...filters,by,top:1e4,format:"csv"})}`,`llm-spend-by-${by}.csv`)},children:"CSV"})]}),none&&i(Note,{tone:"warn",icon:"\
alert",children:["What models cost is not recorded. ",i(Text,{children:table.failure.message})]}),failure?i(ErrorBox,{failure,retry:()=>{table.again(),timed.again()},
since:table.at??void 0}):null,found2?.partial&&i(Note,{tone:"warn",icon:"alert",children:"Only part of it was read within 2 s: the figures are too small. Choose\
 a shorter span or filter."}),missing.length>0&&i(Note,{tone:"warn",icon:"alert",children:["Without ",missing.map(visible).join(", "),"."]}),found2&&i(Figures,{
found:found2,span:SPANS3.find(([id])=>id===last2)[1]}),i("div",{class:"stack",children:[!none&&i($,{children:[i(Plot,{title:`Cost by ${name}`,unit:seconds2>3*86400?
"US dollars a day":"US dollars an hour",...plotted(timed.value,seconds2>3*86400?86400:3600),show:value=>usd(value),height:200},asked),i(Table2,{by,name,found:found2})]}),
i(Budgets,{}),!none&&i("div",{class:"two",children:[i(Fallbacks,{of:of2,asked,turn}),i(Refused2,{of:of2,asked,turn})]})]}),trying&&i(Playground,{close:()=>setTrying(
!1)})]})}function Figures({found:found2,span:span2}){let{total,month}=found2,figure=(name,value,note)=>i("div",{class:"panel figure",children:[i("span",{children:name}),
i("strong",{children:value}),i("small",{children:note})]});return i("div",{class:"figures",role:"group","aria-label":"In short",children:[figure(`Spent in ${span2}`,
usd(total.cost_usd),total.estimated?`${count(total.estimated)} answers estimated`:"as providers told"),figure("This month",usd(month.cost_usd),`since ${date(month.
from)}`),figure("Forecast",usd(month.forecast_usd),`to ${date(month.to-1)}, as in the past 7 days`),figure("Requests",count(total.requests),`${count(total.attempts)}\
 to providers`),figure("Tokens",count(total.input_tokens+total.output_tokens),`${count(total.output_tokens)} of answers`),figure("First token",total.first_token_ms==
null?UNKNOWN:duration(total.first_token_ms*1e3),"mean of streams")]})}function Table2({by,name,found:found2}){let rows=found2?.rows??[],all=found2?.total.cost_usd??
0,filter=SPLITS.find(([id])=>id===by)[2],next=by==="model"||by==="provider"?"key":"model";return i(Panel,{title:`By ${name}`,note:found2?`${usd(all)}${rows.length>=
ROWS2?`, the ${ROWS2} dearest`:""}`:"loading",children:rows.length===0?i(Empty,{icon:"usage",title:found2?"No request to a model in this span.":"Loading",children:found2&&
i($,{children:["An API with ",i("code",{children:"tollgate.llm"})," is one endpoint in front of many providers."]})}):i("div",{class:"scroll-x",tabIndex:0,children:i(
"table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:capital(name)}),i("th",{scope:"col",class:"number",children:"\
Cost"}),!narrow.value&&i("th",{scope:"col",children:"Share"}),i("th",{scope:"col",class:"number",children:"Requests"}),i("th",{scope:"col",class:"number",children:"\
Prompt"}),i("th",{scope:"col",class:"number",children:"Answers"}),!narrow.value&&i($,{children:[i("th",{scope:"col",class:"number",children:"Cached"}),i("th",{scope:"\
col",class:"number",children:"First token"})]})]})}),i("tbody",{children:rows.map(row2=>i("tr",{children:[i("th",{scope:"row",children:[i("button",{type:"button",
class:"as-link",title:`Only ${visible(row2.value)}`,onClick:()=>refine({[filter]:String(row2.value),split:next}),children:i(Text,{children:row2.alias||row2.value||
"none"})}),by==="key"&&row2.value&&i($,{children:[row2.alias&&i("small",{children:[" ",i(Text,{mono:!0,children:String(row2.value).slice(0,12)})]})," ",i("a",{href:link(
["keys",String(row2.value)],{alias:row2.alias}),"aria-label":"Open the key",children:i(Icon,{name:"right"})})]})]}),i("td",{class:"number",children:[usd(row2.cost_usd),
row2.estimated>0&&i("small",{title:`${row2.estimated} answers are estimated: their providers have not told what they took`,children:" ~"})]}),!narrow.value&&i("\
td",{children:[i("span",{class:"share","aria-hidden":"true",children:i("span",{style:{width:`${all?100*row2.cost_usd/all:0}%`}})}),percent(all?row2.cost_usd/all:
0)]}),i("td",{class:"number",children:count(row2.requests)}),i("td",{class:"number",children:count(row2.input_tokens)}),i("td",{class:"number",children:count(row2.
output_tokens)}),!narrow.value&&i($,{children:[i("td",{class:"number",children:count(row2.cached_tokens)}),i("td",{class:"number",children:row2.first_token_ms==
null?UNKNOWN:duration(row2.first_token_ms*1e3)})]})]},row2.value))})]})})})}function Budgets(){let loaded2=useLoaded(()=>get("llm/overview",{byItself:!0}),[0,Math.
floor(tick.value/15)]),all=loaded2.value?.budgets??[],shared=all.filter(one=>one.standing||one.teams?.length),refused=all.filter(one=>!one.standing&&!one.teams?.
length).reduce((sum,one)=>sum+one.refused,0);return loaded2.failure?i(ErrorBox,{failure:loaded2.failure,retry:loaded2.again}):i(Panel,{title:"Budgets",note:refused>
0?`those of keys and policies have refused ${refused===1?"one request":`${count(refused)} requests`}`:void 0,children:shared.length===0?i(Empty,{icon:"info",title:"\
No API in front of models has a budget.",children:["Budgets are members of ",i("code",{children:"tollgate.llm"})," of an API, and of organisations, policies and\
 keys."]}):i("div",{class:"scroll-x",tabIndex:0,children:i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"\
Budget"}),!narrow.value&&i("th",{scope:"col",children:"Of"}),i("th",{scope:"col",children:"Used"}),i("th",{scope:"col",class:"number",children:"Left"}),i("th",{
scope:"col",class:"number",children:"At its end"}),!narrow.value&&i($,{children:[i("th",{scope:"col",children:"Ends"}),i("th",{scope:"col",class:"number",children:"\
Refused"})]})]})}),i("tbody",{children:shared.flatMap(one=>{let key=`${one.api_id} ${one.of} ${one.name}`;return one.standing?[i(BudgetRow,{budget:one,standing:one.
standing},key)]:(one.teams??[]).map(({team,standing})=>i(BudgetRow,{budget:one,team,standing},`${key} ${team}`))})})]})})})}function BudgetRow({budget,team,standing}){
let{unit,per,max,used,left,to,forecast,soft}=standing,share=used!=null&&max>0?Math.min(1,used/max):0,expected=forecast!=null&&max>0?Math.min(1,forecast/max):share,
tone2=share>=1?"bad":expected>=1?"warn":"ok";return i("tr",{children:[i("th",{scope:"row",children:[i(Text,{children:budget.name}),team?i($,{children:[" ",i("bu\
tton",{type:"button",class:"as-link",title:`Only ${visible(team)}`,onClick:()=>refine({team,split:"model"}),children:i(Text,{children:team})})]}):team===""&&" n\
o team"," ",i("small",{children:[soft?"soft":"hard",", ",unitWords(unit),"a ",per]})]}),!narrow.value&&i("td",{children:budget.of==="api"||team!==void 0?i("a",{
href:link(["apis",budget.api_id]),children:i(Text,{children:budget.api_id})}):budget.of}),i("td",{children:[i("span",{class:`budget ${tone2}`,"aria-hidden":"tru\
e",children:[i("i",{style:{width:`${expected*100}%`}}),i("span",{style:{width:`${share*100}%`}})]}),used==null?UNKNOWN:amount(used,unit)," of ",amount(max,unit)]}),
i("td",{class:"number",children:left==null?UNKNOWN:amount(left,unit)}),i("td",{class:`number ${tone2==="ok"?"":tone2}`,children:forecast==null?UNKNOWN:i($,{children:[
amount(forecast,unit),forecast>max&&i("small",{children:[" over by ",percent(forecast/max-1)]})]})}),!narrow.value&&i($,{children:[i("td",{children:ago(to)}),i(
"td",{class:"number",children:[count(budget.refused),team!==void 0&&budget.refused>0&&i("small",{children:" of all teams"})]})]})]})}function Fallbacks({of:of2,
asked,turn}){let moves=useLoaded(()=>of2({by:"instead_of",split:"provider"}),[asked,turn]),good=useLoaded(()=>of2({by:"instead_of",split:"provider",outcome:"ok"}),
[asked,turn]),why=useLoaded(()=>of2({by:"provider",split:"reason"}),[asked,turn]),rows=(moves.value?.rows??[]).filter(row2=>row2.value!==""),answered=row2=>good.
value?.rows.find(one=>one.value===row2.value&&one.split===row2.split)?.requests??0,reasons=from=>(why.value?.rows??[]).filter(row2=>row2.value===from&&row2.split).
slice(0,3);return i(Panel,{title:"Fallbacks",note:rows.length?void 0:"none",children:rows.length===0?i(Empty,{icon:"ok",title:"No provider was asked in place of\
 another."}):i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"In place of"}),i("th",{scope:"col",children:"\
was asked"}),i("th",{scope:"col",class:"number",children:"Times"}),i("th",{scope:"col",class:"number",children:"Answered"})]})}),i("tbody",{children:rows.map(row2=>i(
"tr",{children:[i("th",{scope:"row",children:[i(Text,{children:row2.value}),reasons(row2.value).map(one=>i("div",{children:i("small",{children:[i(Text,{children:one.
split}),one.attempts>0&&`, ${count(one.attempts)} times`]})},one.split))]}),i("td",{children:i(Text,{children:row2.split})}),i("td",{class:"number",children:count(
row2.attempts)}),i("td",{class:"number",children:count(answered(row2))})]},`${row2.value} ${row2.split}`))})]})})}function Refused2({of:of2,asked,turn}){let found2=useLoaded(
()=>of2({by:"reason",split:"outcome",top:500}),[asked,turn]),bounded=useLoaded(()=>of2({by:"budget",split:"outcome"}),[asked,turn]),rows=(found2.value?.rows??[]).
filter(row2=>row2.requests>0&&row2.split!=="ok"&&row2.split!=="cached").sort((a,b2)=>b2.requests-a.requests),ended=(bounded.value?.rows??[]).filter(row2=>row2.value&&
row2.requests>0&&row2.split==="ok");return i(Panel,{title:"Refused or cut",note:i("a",{href:link(["live"]),children:"single requests"}),children:rows.length+ended.
length===0?i(Empty,{icon:"ok",title:"Every request was answered."}):i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",
children:"What"}),i("th",{scope:"col",children:"Why"}),i("th",{scope:"col",class:"number",children:"Requests"})]})}),i("tbody",{children:[rows.slice(0,20).map(row2=>i(
"tr",{children:[i("td",{children:i(Badge,{tone:outcome(row2.split??"")[0],children:outcome(row2.split??"")[1]})}),i("td",{children:i(Text,{children:capital(String(
row2.value))})}),i("td",{class:"number",children:count(row2.requests)})]},`${row2.value} ${row2.split}`)),ended.map(row2=>i("tr",{children:[i("td",{children:i(Badge,
{tone:"warn",children:"ended early"})}),i("td",{children:["The answer had its end where the budget ",i(Text,{children:row2.value})," bounds it"]}),i("td",{class:"\
number",children:count(row2.requests)})]},`budget ${row2.value}`))]})]})})}function plotted(found2,unit){if(!found2)return{lines:[],times:[]};let times=[];for(let at=Math.
floor(found2.from/unit)*unit;at<found2.to&&times.length<2e3;at+=unit)times.push(at);let place3=new Map(times.map((time,at)=>[time,at])),sums=new Map,aliases=Object.
create(null);for(let row2 of found2.rows)sums.set(row2.split??"",(sums.get(row2.split??"")??0)+row2.cost_usd),row2.alias&&row2.split&&(aliases[row2.split]=row2.
alias);let names=[...sums].filter(([,cost])=>cost>0).sort((a,b2)=>+(a[0]==="_other")-+(b2[0]==="_other")||b2[1]-a[1]).slice(0,narrow.value?1:8).map(([name])=>name),
values=new Map(names.map(name=>[name,times.map(()=>0)]));for(let row2 of found2.rows){let at=place3.get(Math.floor(Number(row2.value)/unit)*unit),line=values.get(
row2.split??"");at!==void 0&&line&&(line[at]=(line[at]??0)+row2.cost_usd)}return{times,lines:names.map((name,at)=>({name:name==="_other"?"other":visible(aliases[name]??
name)||"none",values:values.get(name),color:COLORS[name==="_other"?7:at%7],fill:names.length===1}))}}async function download(path,name){let{text}=await ask("GET",
path),file=document.createElement("a");file.href=URL.createObjectURL(new Blob([text],{type:"text/csv"})),file.download=name,file.click(),setTimeout(()=>URL.revokeObjectURL(
file.href),1e4)}function Policies(){let q=route.value.query,list=useList("policies",{q:q.get("q")??void 0,sort:q.get("sort")??"name"}),can=may("editor")&&session.value?.writable.
policies,open=q.get("open");return i($,{children:[i("div",{class:"page-head",children:[i("h1",{children:["Policies",list.total!=null&&i("small",{children:count(
list.total)})]}),i(Filter,{label:"Filter policies",placeholder:"Name or id"}),can&&i(Button,{icon:"plus",kind:"primary","data-key":"n",onClick:()=>refine({new:"\
1"}),children:"New policy"})]}),!can&&i("p",{class:"list-end",children:may("editor")?"Policies cannot be written here: there is no folder for them (policies.pol\
icy_path), or it is read-only.":"Your role can view policies, not change them."}),i(Table,{label:"Policies",list,id:one=>one.id,open:one=>refine({open:one.id}),
order:"name",empty:i(Empty,{icon:"policy",title:q.get("q")?"No policy matches.":"There is no policy yet.",children:q.get("q")?null:"A policy gives many keys the\
 same rights and limits; changing it changes all of them at once."}),columns:[{id:"name",name:"Name",sort:"name",grow:!0,show:one=>i("a",{href:link(["policies"],
{open:one.id}),children:i(Text,{children:one.name||one.id})})},{id:"state",bare:!0,name:"State",show:one=>i(Badge,{tone:one.state==="active"?"ok":"muted",children:one.
state})},{id:"id",name:"Id",sort:"id",show:one=>i(Text,{mono:!0,children:one.id})},{id:"apis",name:"APIs",show:one=>i(Text,{children:one.apis.join(", ")})},{id:"\
limits",name:"Limits",show:limit},{id:"keys",name:"Keys",number:!0,show:one=>i("a",{href:link(["keys"],{q:one.id}),children:one.keys==null?"its keys":count(one.
keys)})}]}),open&&i(Policy,{id:open,close:()=>refine({open:void 0}),changed:list.reload,can:!!can},open),q.get("new")&&can&&i(Policy,{id:null,close:()=>refine({
new:void 0}),changed:list.reload,can:!0})]})}var FRESH=()=>({id:"",name:"",active:!0,org_id:"default",rate:100,per:60,quota_max:-1,quota_renewal_rate:0,key_expires_in:0,
access_rights:{},partitions:{quota:!1,rate_limit:!1,acl:!1}});function Policy({id,close,changed,can}){let stored=useLoaded(()=>id?ask("GET",`policies/${segment(
id)}`):Promise.resolve({value:null,etag:null,text:JSON.stringify(FRESH())}),[id]),keys=useLoaded(()=>id&&may("editor")&&!isScoped()?call("POST","keys/bulk",{action:"\
activate",select:{policy:id},dry_run:!0}):Promise.resolve({count:id?null:0}),[id]).value?.count??null,base=stored.value?layout(stored.value.text):null,[edited,setEdited]=w(
null),[apis2,setApis]=w([]),[problems,setProblems]=w([]),[failure,setFailure]=w(null),[step,setStep]=w("edit"),text=edited??base??"",set2=(path,value2)=>setEdited(
set(text,path.split("."),value2)),value=path=>valueAt(text,path.split("."));if(S(()=>{get("list/apis?limit=200").then(page=>setApis(page.rows),()=>{})},[]),S(()=>{
if(!edited)return;let control=new AbortController,timer=setTimeout(()=>{call("POST","check/policy",edited,{signal:control.signal}).then(found2=>setProblems(found2.
problems),()=>{})},400);return()=>{clearTimeout(timer),control.abort()}},[edited]),stored.failure)return stored.failure instanceof Failure&&stored.failure.status===
404?i(Dialog,{title:"Policy",close,children:i(Empty,{icon:"policy",title:"There is no such policy."})}):i(Dialog,{title:"Policy",close,children:i(ErrorBox,{failure:stored.
failure,retry:stored.again})});if(!stored.value||base==null)return null;let errors=problems.filter(one=>one.level==="error"),plain=String(value("name")??"").toLowerCase().
replace(/[^a-z0-9]+/g,"-").replace(/^-|-$/g,""),save=async()=>{setFailure(null);try{id?await call("PUT",`policies/${segment(id)}`,text,stored.value.etag?{headers:{
"If-Match":stored.value.etag}}:{}):await call("POST","policies",set(text,["id"],plain||`policy-${Date.now().toString(36)}`),{headers:{"If-None-Match":"*"}}),await reread(),
say("ok",`Policy saved. It applies to ${keys==null?"its keys":`${count(keys)} ${keys===1?"key":"keys"}`} from the next request.`),changed(),close()}catch(failed){
setStep("edit"),setFailure(failed instanceof Failure&&failed.status===412?new Failure(412,"Not saved: somebody else changed this policy since it was opened. Clo\
se it and open it again to see their version."):failed)}},remove2=async()=>{try{await call("DELETE",`policies/${segment(id)}`),await reread(),say("ok","Policy d\
eleted."),changed(),close()}catch(failed){setFailure(failed),setStep("edit")}},concerned=keys==null?"The number of its keys is not known.":`${count(keys)} ${keys===
1?"key has":"keys have"} this policy.`;if(step==="delete")return i(Dialog,{title:"Delete this policy?",close:()=>setStep("edit"),footer:i($,{children:[i(Button,
{onClick:()=>setStep("edit"),children:"Keep it"}),i(Button,{kind:"danger",onClick:()=>{remove2()},children:"Delete"})]}),children:i("p",{children:[concerned," ",
keys===0?"":"Their requests are refused until they get another."]})});if(step==="save")return i(Dialog,{title:"Save this policy?",close:()=>setStep("edit"),wide:!0,
footer:i($,{children:[i("span",{children:[concerned," ",affected()]}),i(Button,{onClick:()=>setStep("edit"),children:"Back"}),i(Button,{kind:"primary",autofocus:!0,
onClick:()=>{save()},children:"Save"})]}),children:i(Diff,{old:id?base:"",now:text})});let rights=value("access_rights")??{},budgets=value("llm_budgets")??[],number=(path,label,none,empty)=>i(
Field,{label,error:problems.find(one=>one.path===`$.${path}`)?.message,children:i("input",{type:"number",min:0,step:"any",disabled:!can,placeholder:none,value:value(
path)>0?value(path):"",onInput:event=>set2(path,event.currentTarget.value===""?empty:Number(event.currentTarget.value))})});return i(Dialog,{title:id?visible(value(
"name")||id):"New policy",close,wide:!0,footer:i($,{children:[i("span",{children:[id&&i(LinkButton,{icon:"key",kind:"quiet",href:link(["keys"],{q:id}),children:keys==
null?"Its keys":`${count(keys)} ${keys===1?"key":"keys"}`}),id&&can&&i(Button,{icon:"trash",kind:"quiet",onClick:()=>setStep("delete"),children:"Delete"})]}),i(
Button,{onClick:close,children:"Close"}),can&&i(Button,{kind:"primary",disabled:!edited||edited===base||errors.length>0||!value("name")||!!fault(budgets),onClick:()=>id?
setStep("save"):void save(),children:id?"Save":"Make the policy"})]}),children:i("div",{class:"form",children:[failure?i("div",{class:"field wide",children:i(ErrorBox,
{failure})}):null,i(Field,{label:"Name",children:i("input",{autofocus:!0,disabled:!can,value:value("name")??"",onInput:event=>set2("name",event.currentTarget.value)})}),
i("label",{class:"choice",children:[i("input",{type:"checkbox",disabled:!can,checked:!!value("active"),onChange:()=>set2("active",!value("active"))}),"Active"]}),
number("rate","Requests","no limit",0),number("per","in seconds","60",0),number("quota_max","Quota","no quota",-1),number("quota_renewal_rate","renewed every, s\
econds","never",0),number("key_expires_in","New keys expire after, seconds","never",0),i("div",{class:"field wide",children:[i("span",{children:"APIs"}),i("div",
{class:"choices",children:[...apis2,...Object.keys(rights).filter(one=>!apis2.some(api=>api.id===one)).map(one=>({id:one,name:one,listen_path:"unknown API"}))].
map(api=>i("label",{class:"choice",children:[i("input",{type:"checkbox",disabled:!can,checked:api.id in rights,onChange:()=>set2(`access_rights.${api.id}`,api.id in
rights?void 0:{api_id:api.id,api_name:api.name,versions:["Default"]})}),i(Text,{children:api.name||api.id}),i("small",{class:"mono",children:i(Text,{children:api.
listen_path})})]},api.id))})]}),i("div",{class:"field wide",children:[i("span",{children:"Applies to keys"}),i("div",{class:"row",children:[["acl","rights"],["r\
ate_limit","rate"],["quota","quota"]].map(([part,name])=>i("label",{class:"choice",children:[i("input",{type:"checkbox",disabled:!can,checked:!!value(`partition\
s.${part}`),onChange:()=>set2(`partitions.${part}`,!value(`partitions.${part}`))}),"only its ",name]},part))}),i("em",{children:"None chosen: all of it."})]}),i(
"details",{class:"field wide",open:budgets.length>0,children:[i("summary",{children:["Budgets of language models",budgets.length>0&&`: ${budgets.length}`]}),i("\
div",{class:"form",children:i(BudgetForm,{budgets,set:list=>set2("llm_budgets",list.length?list:void 0),readOnly:!can,holders:[["key","each key has its own"],["\
policy","all its keys together"]]})})]}),problems.filter(one=>one.level!=="ignored").map(one=>i("div",{class:"field wide",children:i(Note,{tone:one.level==="err\
or"?"bad":"warn",icon:"alert",children:[i("code",{children:one.path})," ",i(Text,{children:one.message})]})},one.path))]})})}var WORDS={requested:["waits","warn"],approved:["approved","ok"],rejected:["rejected","muted"],suspended:["suspended","bad"]},ANSWER_CHARS_MAX=1e3;function StateBadge({
state:state3}){let[word,tone2]=WORDS[state3];return i(Badge,{tone:tone2,children:word})}function matching(rows,words){let q=(route.value.query.get("q")??"").toLowerCase();
return q?rows.filter(row2=>words(row2).some(word=>word.toLowerCase().includes(q))):rows}var fetchApplications=()=>get("portal/applications"),fetchProducts=()=>get(
"portal/products");function PortalRequests(){let applications=useLoaded(fetchApplications,[0]),[open,setOpen]=w(null),state3=route.value.query.get("state")??"re\
quested",all=(applications.value??[]).flatMap(application=>application.grants.map(grant=>({application,grant}))),waiting=all.filter(one=>one.grant.state==="requ\
ested").length,chosen=state3==="all"?all:all.filter(one=>one.grant.state===state3),rows=matching(chosen,one=>[one.application.name,one.application.team_name,one.
grant.developer,one.grant.product,one.grant.plan]).sort((one,other)=>other.grant.asked_unix_s-one.grant.asked_unix_s);return i($,{children:[i("div",{class:"tool\
bar",children:[i("label",{class:"row",children:["Show ",i("select",{"aria-label":"State",value:state3,onChange:event=>refine({state:event.currentTarget.value}),
children:[i("option",{value:"requested",children:"waiting"}),i("option",{value:"approved",children:"approved"}),i("option",{value:"suspended",children:"suspende\
d"}),i("option",{value:"rejected",children:"rejected"}),i("option",{value:"all",children:"all"})]})]}),i(Filter,{label:"Filter requests",placeholder:"Applicatio\
n, team, developer, product"}),applications.value&&i("small",{role:"status",children:waiting===0?"None waits.":`${count(waiting)} ${waiting===1?"waits":"wait"} \
for a decision.`})]}),!may("editor")&&i("p",{class:"list-end",children:"Your role can view requests, not decide about them."}),i(Table,{label:"Requests",list:{...here(
rows),done:!!applications.value,failure:applications.failure,reload:applications.again},id:one=>`${one.application.id} ${one.grant.id}`,open:setOpen,empty:i(Empty,
{icon:"ok",title:state3==="requested"?"No request waits for a decision.":"There is no such request.",children:state3==="requested"?"Plans whose requests need an\
 approval are decided here.":null}),columns:[{id:"application",name:"Application",grow:!0,show:one=>i("button",{type:"button",class:"as-link",onClick:()=>setOpen(
one),children:i(Text,{children:one.application.name})})},{id:"state",bare:!0,name:"State",show:one=>i(StateBadge,{state:one.grant.state})},{id:"asked",name:"Ask\
ed",show:one=>i(Ago,{at:one.grant.asked_unix_s})},{id:"product",name:"Product",show:one=>i(Text,{children:one.grant.product})},{id:"plan",name:"Plan",show:one=>i(
Text,{children:one.grant.plan})},{id:"who",name:"Developer",show:one=>i(Text,{children:one.grant.developer||"gone"})},{id:"reason",name:"Reason",wide:!0,show:one=>i(
Text,{children:one.grant.reason})}]}),open&&i(Decision,{asked:open,close:()=>setOpen(null),changed:applications.again})]})}function Decision({asked:{application,
grant},close,changed}){let products=useLoaded(fetchProducts,[0]),[plan,setPlan]=w(grant.plan),[answer,setAnswer]=w(""),[failure,setFailure]=w(null),product=products.
value?.find(one=>one.id===grant.product),plans=product?.plans??[],can=may("editor"),send=async(state3,done)=>{setFailure(null);try{await call("PATCH",`portal/ap\
plications/${segment(application.id)}/grants/${segment(grant.id)}`,{...state3&&{state:state3},...plan!==grant.plan&&{plan},answer}),say("ok",done),changed(),close()}catch(failed){
setFailure(failed)}},moved=plan!==grant.plan,buttons={requested:i($,{children:[i(Button,{kind:"danger",disabled:!answer.trim(),title:answer.trim()?void 0:"Write\
 the reason first",onClick:()=>{send("rejected","Rejected. The developer reads the reason.")},children:"Reject"}),i(Button,{kind:"primary",onClick:()=>{send("ap\
proved","Approved. The developer can make keys.")},children:"Approve"})]}),approved:i($,{children:[i(Button,{kind:"danger",onClick:()=>{send("suspended","Suspen\
ded. Its keys are refused from the next request.")},children:"Suspend"}),i(Button,{kind:"primary",disabled:!moved,onClick:()=>{send(void 0,"Plan changed. Its ke\
ys have the new limits from the next request.")},children:"Change the plan"})]}),suspended:i(Button,{kind:"primary",onClick:()=>{send("approved","It goes on. It\
s keys are served from the next request.")},children:"Let it go on"}),rejected:i(Button,{kind:"primary",onClick:()=>{send("approved","Approved. The developer ca\
n make keys.")},children:"Approve"})}[grant.state];return i(Dialog,{title:`${visible(application.name)}: ${visible(product?.name??grant.product)}`,close,footer:i(
$,{children:[i(Button,{onClick:close,children:"Close"}),can&&buttons]}),children:[failure?i(ErrorBox,{failure}):null,i(Facts,{children:[i(Fact,{name:"State",children:i(
StateBadge,{state:grant.state})}),i(Fact,{name:"Developer",children:i(Text,{children:grant.developer||"gone"})}),i(Fact,{name:"Team",children:i(Text,{children:application.
team_name})}),i(Fact,{name:"Asked",children:i(Ago,{at:grant.asked_unix_s})}),grant.decided_unix_s>0&&i(Fact,{name:"Decided",children:i(Ago,{at:grant.decided_unix_s})}),
i(Fact,{name:"Reason",children:i(Text,{children:grant.reason||"none"})}),grant.answer&&i(Fact,{name:"Answer",children:i(Text,{children:grant.answer})}),i(Fact,{
name:"Keys",children:count(grant.keys.length)})]}),can&&i("div",{class:"form",children:[i(Field,{label:"Plan",wide:!0,hint:moved?"The keys it has get the limits\
 of this plan.":void 0,children:i("select",{value:plan,onChange:event=>setPlan(event.currentTarget.value),children:[!plans.some(one=>one.id===grant.plan)&&i("op\
tion",{value:grant.plan,children:grant.plan}),plans.map(one=>i("option",{value:one.id,children:one.name},one.id))]})}),i(Field,{label:"Answer",wide:!0,hint:grant.
state==="requested"?"The developer reads it. A rejection needs a reason.":"The developer reads it.",children:i("textarea",{rows:3,maxLength:ANSWER_CHARS_MAX,value:answer,
onInput:event=>setAnswer(event.currentTarget.value)})})]})]})}var place2=id=>id.startsWith("oauth-client/")?link(["clients"],{q:id.split("/")[1]}):link(["keys",
id]);function PortalApplications(){let applications=useLoaded(fetchApplications,[0]),open=route.value.query.get("open"),rows=matching(applications.value??[],one=>[
one.name,one.team_name,one.id,...one.grants.flatMap(grant=>[grant.product,grant.developer,...grant.keys.map(key=>key.id)])]),found2=applications.value?.find(one=>one.
id===open);return i($,{children:[i("div",{class:"toolbar",children:i(Filter,{label:"Filter applications",placeholder:"Application, team, product, developer, key"})}),
i(Table,{label:"Applications",list:{...here(rows),done:!!applications.value,failure:applications.failure,reload:applications.again},id:one=>one.id,open:one=>refine(
{open:one.id}),empty:i(Empty,{icon:"portal",title:route.value.query.get("q")?"No application matches.":"There is no application yet.",children:route.value.query.
get("q")?null:"Developers make them at the portal, and ask for plans of products."}),columns:[{id:"name",name:"Application",grow:!0,show:one=>i("a",{href:link([
"portal","applications"],{open:one.id}),children:i(Text,{children:one.name})})},{id:"team",name:"Team",show:one=>i(Text,{children:one.team_name})},{id:"made",name:"\
Made",show:one=>i(Ago,{at:one.created_unix_s})},{id:"keys",name:"Keys",number:!0,show:one=>count(one.grants.reduce((sum,grant)=>sum+grant.keys.length,0))},{id:"\
plans",name:"Plans",wide:!0,show:one=>one.grants.map(grant=>i("span",{class:"row",children:[i(Text,{children:`${grant.product} ${grant.plan}`})," ",i(StateBadge,
{state:grant.state})]},grant.id))}]}),found2&&i(OneApplication,{application:found2,close:()=>refine({open:void 0}),changed:applications.again},found2.id)]})}function OneApplication({
application,close,changed}){let usage=useLoaded(()=>get(`portal/applications/${segment(application.id)}/usage`),[application.id]),[deciding,setDeciding]=w(null),
used=id=>usage.value?.keys.find(one=>one.id===id);return deciding?i(Decision,{asked:{application,grant:deciding},close:()=>setDeciding(null),changed}):i(Dialog,
{title:visible(application.name),close,wide:!0,footer:i(Button,{onClick:close,children:"Close"}),children:[usage.failure?i(ErrorBox,{failure:usage.failure,retry:usage.
again}):null,i(Facts,{children:[i(Fact,{name:"Team",children:i(Text,{children:application.team_name})}),i(Fact,{name:"Made",children:i(Ago,{at:application.created_unix_s})})]}),
application.grants.length===0&&i(Empty,{icon:"policy",title:"It has asked for no plan."}),application.grants.map(grant=>i("section",{class:"panel",children:[i("\
header",{children:[i("h2",{children:[i(Text,{children:grant.product}),i("small",{children:i(Text,{children:grant.plan})})," ",i(StateBadge,{state:grant.state})]}),
i("div",{class:"actions",children:i(Button,{onClick:()=>setDeciding(grant),children:grant.state==="requested"?"Decide":"Change"})})]}),grant.keys.length===0?i("\
div",{class:"empty small",children:"No key."}):i("div",{class:"scroll-x",tabIndex:0,role:"group","aria-label":`Keys of ${visible(grant.product)}`,children:i("ta\
ble",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Key"}),i("th",{scope:"col",children:"Made by"}),i("th",{scope:"\
col",class:"number",children:"Calls, 30 d"}),i("th",{scope:"col",children:"Last use"}),i("th",{scope:"col",children:"Quota"}),i("th",{scope:"col",children:"Ends"})]})}),
i("tbody",{children:grant.keys.map(key=>{let use=used(key.id);return i("tr",{children:[i("th",{scope:"row",children:[i("a",{href:place2(key.id),children:["…",
i(Text,{mono:!0,children:key.tail})]}),use?.state?.is_suspended&&i(Badge,{tone:"bad",children:"suspended"})]}),i("td",{children:i(Text,{children:key.made_by||"g\
one"})}),i("td",{class:"number",children:use?count(use.requests):UNKNOWN}),i("td",{children:i(Ago,{at:use?.last_used_unix_s})}),i("td",{children:use?.state&&use.
state.quota_max>0?i(Meter,{used:use.state.quota_max-use.state.quota_remaining,max:use.state.quota_max}):"none"}),i("td",{children:key.ends_unix_s?i(Ago,{at:key.
ends_unix_s}):"never"})]},key.id)})})]})})]},grant.id)),!!usage.value?.more&&i("small",{children:["The calls of ",count(usage.value.more)," more keys are not sh\
own; each key has its own page."]})]})}var named=new Intl.DateTimeFormat("en-US",{month:"long",year:"numeric",timeZone:"UTC"}),monthName=month=>named.format(new Date(`${month}-01T00:00:00Z`));function Invoices({months,invoice,csv}){let all=useLoaded(months,[]),[chosen,setChosen]=w(""),month=chosen||all.value?.[0]||"",found2=useLoaded(()=>month?invoice(
month):Promise.resolve(null),[month]);if(all.failure)return i("div",{class:"body",children:i(ErrorBox,{failure:all.failure,retry:all.again})});if(all.value?.length===
0)return i(Empty,{title:"There are no invoices yet",children:"They begin with the first plan that has a price."});let save=async()=>{try{saveFile(`invoice-${month}\
.csv`,await get(csv(month)))}catch(failure){say("bad",failure.message)}};return i($,{children:[i("div",{class:"body row low",children:[i("label",{class:"row",children:[
"Month ",i("select",{value:month,onChange:event=>setChosen(event.currentTarget.value),children:all.value?.map(one=>i("option",{value:one,children:monthName(one)},
one))})]}),i(Button,{icon:"download",disabled:!found2.value,onClick:()=>{save()},children:"CSV"})]}),found2.failure?i("div",{class:"body",children:i(ErrorBox,{failure:found2.
failure,retry:found2.again})}):null,found2.value&&i(InvoiceLines,{invoice:found2.value})]})}function InvoiceLines({invoice}){let sums=Object.entries(invoice.sums);
return i($,{children:[i("div",{class:"scroll-x invoice",tabIndex:0,role:"region","aria-label":`Invoice of ${monthName(invoice.month)}`,children:i("table",{class:"\
plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Application"}),i("th",{scope:"col",children:"Product"}),i("th",{scope:"col",
children:"Plan"}),i("th",{scope:"col",class:"number",children:"Calls"}),i("th",{scope:"col",class:"number",children:"Free"}),i("th",{scope:"col",class:"number",
children:"A call"}),i("th",{scope:"col",class:"number",children:"A month"}),i("th",{scope:"col",class:"number",children:"Sum"})]})}),i("tbody",{children:invoice.
lines.map((line,index)=>i("tr",{children:[i("th",{scope:"row",children:i(Text,{children:line.application})}),i("td",{children:i(Text,{children:line.product})}),
i("td",{children:i(Text,{children:line.plan})}),i("td",{class:"number",children:count(line.calls)}),i("td",{class:"number",children:count(line.free_calls)}),i("\
td",{class:"number",children:line.per_call}),i("td",{class:"number",children:line.per_month}),i("td",{class:"number",children:[line.sum," ",line.currency]})]},index))}),
invoice.lines.length>1&&i("tfoot",{children:sums.map(([currency,sum])=>i("tr",{children:[i("th",{scope:"row",colSpan:7,children:"Together"}),i("td",{class:"numb\
er",children:i("strong",{children:[sum," ",currency]})})]},currency))})]})}),i("div",{class:"body",children:i("small",{children:["Calls with a status below 400,\
 until ",invoice.counted_unix_s>0?full(invoice.counted_unix_s):"now",". Months are those of UTC."]})})]})}function Developers(){let developers=useLoaded(()=>get("portal/developers"),[0]),teams=useLoaded(()=>get("portal/teams"),[0]),q=route.value.query,can=may("edito\
r"),called=id=>teams.value?.find(team=>team.id===id)?.name??"",again=()=>{developers.again(),teams.again()},rows=matching(developers.value??[],one=>[one.mail,one.
name,...one.teams.map(called)]),billed=teams.value?.find(team=>team.id===q.get("invoices")),open=developers.value?.find(one=>one.id===q.get("open"));return i($,
{children:[i("div",{class:"toolbar",children:[i(Filter,{label:"Filter developers",placeholder:"Address, name, team"}),can&&i(Button,{icon:"plus",kind:"primary",
class:"push","data-key":"n",onClick:()=>refine({new:"1"}),children:"Invite somebody"})]}),!can&&i("p",{class:"list-end",children:"Your role can view developers,\
 not change them."}),i(Table,{label:"Developers",list:{...here(rows),done:!!developers.value,failure:developers.failure,reload:developers.again},id:one=>one.id,
open:one=>refine({open:one.id}),empty:i(Empty,{icon:"client",title:q.get("q")?"No developer matches.":"Nobody has an account yet.",children:q.get("q")?null:"The\
y sign up at the portal, or you invite them."}),columns:[{id:"mail",name:"Mail address",grow:!0,show:one=>i("a",{href:link(["portal","developers"],{open:one.id}),
children:i(Text,{children:one.mail})})},{id:"state",bare:!0,name:"State",show:one=>one.is_suspended?i(Badge,{tone:"bad",children:"suspended"}):i(Badge,{tone:"ok",
children:"active"})},{id:"since",name:"Since",show:one=>i(Ago,{at:one.created_unix_s})},{id:"name",name:"Name",show:one=>i(Text,{children:one.name})},{id:"teams",
name:"Teams",show:one=>i(Text,{children:one.teams.map(called).filter(Boolean).join(", ")})}]}),teams.failure?i(ErrorBox,{failure:teams.failure,retry:teams.again}):
null,!!teams.value?.length&&i(Panel,{title:"Teams",note:"applications belong to them",class:"after",children:i("table",{class:"plain",children:[i("thead",{children:i(
"tr",{children:[i("th",{scope:"col",children:"Team"}),i("th",{scope:"col",children:"Owners"}),i("th",{scope:"col",children:"Members"}),i("th",{scope:"col",children:"\
Costs"})]})}),i("tbody",{children:teams.value.map(team=>{let of2=role=>team.members.filter(one=>one.role===role).map(one=>one.mail).join(", ");return i("tr",{children:[
i("th",{scope:"row",children:i("a",{href:link(["portal","applications"],{q:team.name}),children:i(Text,{children:team.name})})}),i("td",{children:i(Text,{children:of2(
"owner")})}),i("td",{children:i(Text,{children:of2("member")})}),i("td",{children:i("a",{href:link(["portal","developers"],{invoices:team.id}),"aria-label":`Inv\
oices of ${visible(team.name)}`,children:"Invoices"})})]},team.id)})})]})}),billed&&i(TeamInvoices,{team:billed,close:()=>refine({invoices:void 0})},billed.id),
open&&i(OneDeveloper,{developer:open,teams:open.teams.map(called).filter(Boolean),close:()=>refine({open:void 0}),changed:again,can},open.id),q.get("new")&&can&&
i(Invite,{close:()=>{refine({new:void 0}),again()}})]})}function TeamInvoices({team,close}){let place3=`portal/teams/${segment(team.id)}/invoices`;return i(Dialog,
{title:`Invoices of ${visible(team.name)}`,close,wide:!0,footer:i(Button,{onClick:close,children:"Close"}),children:i(Invoices,{months:()=>get(place3),invoice:month=>get(
`${place3}/${month}`),csv:month=>`${place3}/${month}?format=csv`})})}function OneDeveloper({developer,teams,close,changed,can}){let[failure,setFailure]=w(null),
[sure,setSure]=w(null),address=`portal/developers/${segment(developer.id)}`,run=async(does,done)=>{setFailure(null),setSure(null);try{await does(),say("ok",done),
changed(),close()}catch(failed){setFailure(failed)}},suspend=suspended=>run(()=>call("PATCH",address,{suspended}),suspended?"Suspended: signed out, and the keys\
 they made are refused from the next request.":"They may sign in again, and their keys are served.");return sure==="suspend"?i(Dialog,{title:"Suspend this devel\
oper?",close:()=>setSure(null),footer:i($,{children:[i(Button,{onClick:()=>setSure(null),children:"Cancel"}),i(Button,{kind:"danger",onClick:()=>{suspend(!0)},children:"\
Suspend"})]}),children:i("p",{children:[i(Text,{children:developer.mail})," is signed out, and the keys that they made are refused from the next request."]})}):
sure==="remove"?i(Dialog,{title:"Remove this developer?",close:()=>setSure(null),footer:i($,{children:[i(Button,{onClick:()=>setSure(null),children:"Cancel"}),i(
Button,{kind:"danger",onClick:()=>{run(()=>call("DELETE",address),"Removed, with the keys they made.")},children:"Remove"})]}),children:i("p",{children:["The ac\
count of ",i(Text,{children:developer.mail})," is gone, with the keys that they made and the applications of teams in which nobody else is. Nothing brings them \
back."]})}):i(Dialog,{title:visible(developer.name),close,footer:i($,{children:[i(Button,{onClick:close,children:"Close"}),can&&i($,{children:[i(Button,{kind:"d\
anger",onClick:()=>setSure("remove"),children:"Remove"}),developer.is_suspended?i(Button,{kind:"primary",onClick:()=>{suspend(!1)},children:"Let them go on"}):i(
Button,{kind:"danger",onClick:()=>setSure("suspend"),children:"Suspend"})]})]}),children:[failure?i(ErrorBox,{failure}):null,i(Facts,{children:[i(Fact,{name:"Ma\
il address",children:i(Text,{children:developer.mail})}),i(Fact,{name:"State",children:developer.is_suspended?i(Badge,{tone:"bad",children:"suspended"}):i(Badge,
{tone:"ok",children:"active"})}),i(Fact,{name:"Teams",children:i(Text,{children:teams.join(", ")||"none"})}),i(Fact,{name:"Since",children:i(Ago,{at:developer.created_unix_s})}),
i(Fact,{name:"Applications",children:i("a",{href:link(["portal","applications"],{q:developer.mail}),children:"those with keys or requests of theirs"})})]})]})}function Invite({
close}){let[form,setForm]=w({mail:"",name:""}),[made,setMade]=w(null),[failure,setFailure]=w(null),set2=name=>event=>setForm({...form,[name]:event.currentTarget.
value}),send=async event=>{event.preventDefault(),setFailure(null);try{setMade(await call("POST","portal/invitations",form))}catch(failed){setFailure(failed)}};
return made?i(Dialog,{title:"The invitation",close,footer:i(Button,{kind:"primary",onClick:close,children:"Done"}),children:[i(Note,{tone:made.is_mailed?"ok":"w\
arn",icon:made.is_mailed?"ok":"alert",children:[made.is_mailed?"A mail with this link is on its way.":"No mail is sent: there is no SMTP server. Pass the link o\
n yourself."," It works once, for seven days."]}),i("div",{class:"line",children:[i("code",{class:"big-code",children:made.link}),i(Button,{icon:"copy",onClick:()=>{
copy(made.link,"Link copied")},children:"Copy"})]})]}):i(Dialog,{title:"Invite somebody",close,footer:i($,{children:[i(Button,{onClick:close,children:"Cancel"}),
i(Button,{kind:"primary",type:"submit",form:"invite",disabled:!form.mail||!form.name,children:"Invite"})]}),children:i("form",{id:"invite",class:"form",onSubmit:send,
children:[failure?i("div",{class:"field wide",children:i(ErrorBox,{failure})}):null,i(Field,{label:"Mail address",children:i("input",{autofocus:!0,type:"email",
value:form.mail,onInput:set2("mail")})}),i(Field,{label:"Name",hint:"They may change it.",children:i("input",{value:form.name,onInput:set2("name")})})]})})}var NO_PRODUCT={id:"",name:"",summary:"",description:"",apis:[],plans:[],is_public:!1,is_draft:!0,order:0},NO_PAGE={id:"",title:"",text:"",is_public:!0,is_draft:!0,
order:0},NO_PLAN={id:"",name:"",summary:"",policy:"",approval:"manual"},plainId=text=>text.toLowerCase().replace(/[^a-z0-9]+/g,"-").replace(/^-+|-+$/g,"").slice(
0,64);function Seen({one}){return one.is_draft?i(Badge,{tone:"warn",children:"draft"}):one.is_public?i(Badge,{tone:"ok",children:"public"}):i(Badge,{tone:"accen\
t",children:"for developers"})}function Products(){let list=useLoaded(()=>get("portal/products"),[0]),apis2=useLoaded(()=>get("list/apis?limit=500"),[0]),policies=useLoaded(
()=>get("list/policies?limit=500"),[0]);return i(List,{what:"product",list,icon:"api",empty:NO_PRODUCT,named:one=>one.name,words:one=>[one.id,one.name,...one.apis],
none:"Developers see products: APIs with plans. A plan is a policy for the keys that they get.",more:[{id:"apis",name:"APIs",show:one=>i(Text,{children:one.apis.
join(", ")})},{id:"plans",name:"Plans",show:one=>i(Text,{children:one.plans.map(plan=>plan.name).join(", ")})}],fields:(one,set2,can)=>i($,{children:[i(Field,{label:"\
Summary",wide:!0,children:i("input",{disabled:!can,maxLength:300,value:one.summary,onInput:event=>set2({...one,summary:event.currentTarget.value})})}),i(Choices,
{label:"APIs",can,chosen:one.apis,all:(apis2.value?.rows??[]).map(api=>[api.id,api.name||api.id,api.listen_path]),set:chosen=>set2({...one,apis:chosen})}),i(Plans,
{plans:one.plans,policies:policies.value?.rows??[],can,set:plans=>set2({...one,plans})}),i(Field,{label:"Description",wide:!0,hint:"Markdown. HTML is shown as t\
ext.",children:i("textarea",{rows:8,readOnly:!can,value:one.description,onInput:event=>set2({...one,description:event.currentTarget.value})})})]})})}function PortalPages(){
let list=useLoaded(()=>get("portal/pages"),[0]);return i(List,{what:"page",list,icon:"portal",empty:NO_PAGE,named:one=>one.title,words:one=>[one.id,one.title,one.
text],none:"Pages stand beside the catalogue: how to begin, terms, whom to ask.",more:[{id:"order",name:"Place",number:!0,show:one=>count(one.order)}],fields:(one,set2,can)=>i(
Field,{label:"Text",wide:!0,hint:"Markdown. HTML is shown as text. Links lead to web pages, mail addresses and places of the portal, such as #/pages/start.",children:i(
"textarea",{rows:14,readOnly:!can,value:one.text,onInput:event=>set2({...one,text:event.currentTarget.value})})})})}function List(props){let{what,list,icon,empty,
named:named2,words,more}=props,q=route.value.query,can=may("editor"),open=list.value?.find(one=>one.id===q.get("open")),part=`${what}s`;return i($,{children:[i(
"div",{class:"toolbar",children:[i(Filter,{label:`Filter ${part}`,placeholder:"Name or id"}),can&&i(Button,{icon:"plus",kind:"primary",class:"push","data-key":"\
n",onClick:()=>refine({new:"1"}),children:["New ",what]})]}),!can&&i("p",{class:"list-end",children:["Your role can view ",part,", not change them."]}),i(Table,
{label:part,list:{...here(matching(list.value??[],words)),done:!!list.value,failure:list.failure,reload:list.again},id:one=>one.id,open:one=>refine({open:one.id}),
empty:i(Empty,{icon,title:q.get("q")?`No ${what} matches.`:`There is no ${what} yet.`,children:q.get("q")?null:props.none}),columns:[{id:"name",name:"Name",grow:!0,
show:one=>i("a",{href:link(["portal",part],{open:one.id}),children:i(Text,{children:named2(one)})})},{id:"seen",bare:!0,name:"Seen by",show:one=>i(Seen,{one})},
{id:"id",name:"Id",show:one=>i(Text,{mono:!0,children:one.id})},...more]}),open&&i(Editor,{...props,stored:open,close:()=>refine({open:void 0})},open.id),q.get(
"new")&&can&&i(Editor,{...props,stored:empty,close:()=>refine({new:void 0})})]})}function Editor(props){let{what,stored,close}=props,fresh=useLoaded(()=>stored.
id?ask("GET",`portal/${what}s/${segment(stored.id)}`):Promise.resolve({value:stored,etag:null,text:""}),[stored.id]);return fresh.failure?i(Dialog,{title:stored.
id,close,children:i(ErrorBox,{failure:fresh.failure,retry:fresh.again})}):fresh.value?i(Fields,{...props,stored:fresh.value.value,etag:fresh.value.etag}):null}function Fields({
what,list,stored,etag,named:named2,fields,close}){let[one,set2]=w(stored),[failure,setFailure]=w(null),[removing,setRemoving]=w(!1),can=may("editor"),isNew=!stored.
id,id=isNew?one.id||plainId(named2(one)):stored.id,address=`portal/${what}s/${segment(id)}`,nameOf=what==="product"?"name":"title",version=etag?{headers:{"If-Ma\
tch":etag}}:{},refuse=(action,failed)=>{let isOld=failed instanceof Failure&&failed.status===412;setFailure(isOld?new Failure(412,`Not ${action}: somebody else \
changed this ${what} since it was opened. Close it and open it again to see their version.`):failed)};S(()=>{failure&&document.querySelector("dialog .content")?.
scrollTo(0,0)},[failure]);let save=async(is_draft,done)=>{if(setFailure(null),isNew&&list.value?.some(other=>other.id===id)){setFailure(`There is a ${what} with\
 the id ${id}.`);return}try{await call("PUT",address,{...one,id,is_draft},version),say("ok",done),list.again(),close()}catch(failed){refuse("saved",failed)}},remove2=async()=>{
try{await call("DELETE",address,void 0,version),say("ok",`The ${what} is deleted.`),list.again(),close()}catch(failed){setRemoving(!1),refuse("deleted",failed)}};
if(removing)return i(Dialog,{title:`Delete this ${what}?`,close:()=>setRemoving(!1),footer:i($,{children:[i(Button,{onClick:()=>setRemoving(!1),children:"Keep i\
t"}),i(Button,{kind:"danger",onClick:()=>{remove2()},children:"Delete"})]}),children:i("p",{children:what==="product"?"It leaves the catalogue. Keys that were m\
ade for it are served further, but nobody can rotate them. To hide it and keep that, withdraw it instead.":"Its address leads nowhere from then on."})});let ready=!!id&&
!!named2(one).trim();return i(Dialog,{title:isNew?`New ${what}`:visible(named2(stored)),close,wide:!0,footer:i($,{children:[i("span",{children:!isNew&&can&&i(Button,
{icon:"trash",kind:"quiet",onClick:()=>setRemoving(!0),children:"Delete"})}),i(Button,{onClick:close,children:"Close"}),can&&(one.is_draft?i($,{children:[i(Button,
{disabled:!ready,onClick:()=>{save(!0,"Saved as a draft: only operators see it.")},children:"Save the draft"}),i(Button,{kind:"primary",disabled:!ready,onClick:()=>{
save(!1,"Published.")},children:"Publish"})]}):i($,{children:[i(Button,{onClick:()=>{save(!0,"Withdrawn. Keys that were made for it go on.")},children:"Withdraw"}),
i(Button,{kind:"primary",disabled:!ready||one===stored,onClick:()=>{save(!1,"Saved.")},children:"Save"})]}))]}),children:i("div",{class:"form",children:[failure?
i("div",{class:"field wide",children:i(ErrorBox,{failure})}):null,i(Field,{label:what==="product"?"Name":"Title",children:i("input",{autofocus:isNew,disabled:!can,
maxLength:300,value:named2(one),onInput:event=>set2({...one,[nameOf]:event.currentTarget.value})})}),i(Field,{label:"Id",hint:"In addresses. It can't be changed\
 later.",children:i("input",{class:"mono",disabled:!can||!isNew,placeholder:plainId(named2(one)),value:one.id,onInput:event=>set2({...one,id:plainId(event.currentTarget.
value)})})}),i(Field,{label:"Place in the list",children:i("input",{type:"number",step:1,disabled:!can,value:one.order,onInput:event=>set2({...one,order:Math.trunc(
Number(event.currentTarget.value))})})}),i("label",{class:"choice",children:[i("input",{type:"checkbox",disabled:!can,checked:one.is_public,onChange:()=>set2({...one,
is_public:!one.is_public})}),"Seen without signing in"]}),fields(one,set2,can)]})})}function Choices({label,all,chosen,set:set2,can}){let gone=chosen.filter(id=>!all.
some(([known])=>known===id)).map(id=>[id,id,"unknown"]);return i("div",{class:"field wide",role:"group","aria-label":label,children:[i("span",{children:label}),
i("div",{class:"choices",children:[...all,...gone].map(([id,name,note])=>i("label",{class:"choice",children:[i("input",{type:"checkbox",disabled:!can,checked:chosen.
includes(id),onChange:()=>set2(chosen.includes(id)?chosen.filter(one=>one!==id):[...chosen,id])}),i(Text,{children:name}),i("small",{class:"mono",children:i(Text,
{children:note})})]},id))})]})}var NO_PRICE={currency:"EUR",per_month:"",per_call:"",free_calls:0};function PriceFields({price,set:set2}){let text=(label,name,hint)=>price&&
i(Field,{label,hint,children:i("input",{value:price[name],maxLength:20,inputMode:name==="currency"?void 0:"decimal",onInput:event=>set2({...price,[name]:event.currentTarget.
value.trim()})})});return i($,{children:[i("label",{class:"choice",children:[i("input",{type:"checkbox",checked:!!price,onChange:()=>set2(price?void 0:NO_PRICE)}),
"It has a price"]}),price&&i($,{children:[text("Currency","currency","Three letters."),text("Price of a month","per_month","Such as 49.00; empty for nothing."),
text("Price of a call","per_call","Such as 0.002; empty for nothing."),i(Field,{label:"Free calls in a month",children:i("input",{type:"number",min:0,step:1,value:price.
free_calls,onInput:event=>set2({...price,free_calls:Math.max(0,Math.trunc(Number(event.currentTarget.value)))})})})]})]})}function Plans({plans,policies,set:set2,
can}){let change=(at,members)=>set2(plans.map((plan,index)=>index===at?{...plan,...members}:plan));return i($,{children:[i("h3",{children:"Plans"}),plans.map((plan,at)=>i(
"fieldset",{class:"field wide",disabled:!can,children:[i("legend",{class:"sr",children:["Plan ",at+1]}),i("div",{class:"form",children:[i(Field,{label:"Plan's n\
ame",children:i("input",{value:plan.name,maxLength:300,onInput:event=>{let name=event.currentTarget.value;change(at,{name,...plan.id===""||plan.id===plainId(plan.
name)?{id:plainId(name)}:{}})}})}),i(Field,{label:"Plan's id",children:i("input",{class:"mono",value:plan.id,onInput:event=>change(at,{id:plainId(event.currentTarget.
value)})})}),i(Field,{label:"Policy",children:i("select",{value:plan.policy,onChange:event=>change(at,{policy:event.currentTarget.value}),children:[i("option",{
value:"",children:"choose one"}),plan.policy&&!policies.some(one=>one.id===plan.policy)&&i("option",{value:plan.policy,children:plan.policy}),policies.map(one=>i(
"option",{value:one.id,children:one.name||one.id},one.id))]})}),i(Field,{label:"Requests are approved",children:i("select",{value:plan.approval,onChange:event=>change(
at,{approval:event.currentTarget.value}),children:[i("option",{value:"manual",children:"by an operator"}),i("option",{value:"automatic",children:"at once"})]})}),
i(PriceFields,{price:plan.price,set:price=>change(at,{price})}),i(Field,{label:"What it gives",wide:!0,children:i("input",{value:plan.summary,maxLength:300,onInput:event=>change(
at,{summary:event.currentTarget.value})})}),can&&i("div",{class:"field wide",children:i(Button,{icon:"trash",kind:"quiet",onClick:()=>set2(plans.filter((_,index)=>index!==
at)),children:"Remove this plan"})})]})]},at)),can&&i("div",{class:"field wide",children:i(Button,{icon:"plus",onClick:()=>set2([...plans,NO_PLAN]),children:"Ad\
d a plan"})})]})}var TABS2=[["","Requests"],["products","Products"],["pages","Pages"],["applications","Applications"],["developers","Developers"]];function PortalPlace(){let tab=route.
value.parts[1]??"",url=session.value?.portal;return S(()=>{document.querySelector(".tabs [aria-current]")?.scrollIntoView({block:"nearest",inline:"nearest"})},[
tab]),url?i($,{children:[i("div",{class:"page-head",children:[i("h1",{class:"page",children:"Developer portal"}),i(LinkButton,{class:"push",icon:"portal",href:url,
target:"_blank",rel:"noopener",children:"Open the portal"})]}),i("nav",{class:"tabs","aria-label":"Parts of the portal",children:TABS2.map(([part,name])=>i("a",
{href:link(part?["portal",part]:["portal"]),"aria-current":tab===part?"page":void 0,children:name},part))}),tab===""&&i(PortalRequests,{}),tab==="products"&&i(Products,
{}),tab==="pages"&&i(PortalPages,{}),tab==="applications"&&i(PortalApplications,{}),tab==="developers"&&i(Developers,{})]}):i($,{children:[i("h1",{class:"page",
children:"Developer portal"}),i(Empty,{icon:"portal",title:"There is no developer portal.",children:["Set ",i("code",{children:"tollgate.portal.listen"})," and ",
i("code",{children:"tollgate.portal.url"}),": developers then find APIs there, sign up and get keys by themselves."]})]})}var TABS3=[["","Gateways"],["problems","Problems"],["changes","Changes"],["users","Users"]];function System(){let tab=route.value.parts[1]??"";return i($,{children:[
i("h1",{class:"page",children:"System"}),i("nav",{class:"tabs","aria-label":"Parts of the system",children:TABS3.map(([part,name])=>i("a",{href:link(part?["syst\
em",part]:["system"]),"aria-current":tab===part?"page":void 0,children:name},part))}),tab===""&&i(Gateways,{}),tab==="problems"&&i(Problems,{}),tab==="changes"&&
i(Changes,{}),tab==="users"&&i(Users2,{})]})}function differs(node){return node.differs?.length?i(Badge,{tone:"warn",children:["differs: ",node.differs.map(part=>part.
replaceAll("_"," ")).join(", ")]}):void 0}var often=()=>Math.floor(tick.value/3);function useFigures(){let node=route.value.query.get("node")??"";return useLoaded(
()=>get(`live${query({apis:0,node})}`,{byItself:!0}),[node,often()])}function WhichGateway(){let nodes=now.value?.nodes??[],chosen=route.value.query.get("node")??
now.value?.node??"";return nodes.length<2?null:i("div",{class:"toolbar",children:i("label",{class:"row",children:["Figures of ",i("select",{"aria-label":"Gatewa\
y",value:chosen,onChange:event=>refine({node:event.currentTarget.value}),children:[...nodes].sort().map(node=>i("option",{value:node,children:visible(node)},node))})]})})}
function Gateways(){let nodes=useLoaded(()=>get("nodes",{byItself:!0}),[0,often()]),now2=useFigures(),at=now2.value,reload=async()=>{try{await get("reload?block\
=true"),say("ok","The configuration is read anew."),now2.again()}catch(failure){say("bad",failure.message)}};return i("div",{class:"stack",children:[nodes.failure?
i(ErrorBox,{failure:nodes.failure,retry:nodes.again,since:nodes.at??void 0}):null,i(Panel,{title:"Gateways",note:nodes.value?nodes.value.shared?"that share this\
 Redis":"this one stands alone: no Redis is configured":"",actions:may("editor")&&i(Button,{icon:"refresh",kind:"quiet",onClick:()=>{reload()},children:"Reload \
configuration"}),children:i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Name"}),i("th",{scope:"col",children:"\
State"}),!narrow.value&&i($,{children:[i("th",{scope:"col",children:"Version"}),i("th",{scope:"col",children:"Up since"}),i("th",{scope:"col",class:"number",children:"\
APIs"}),i("th",{scope:"col",children:"Configuration"}),i("th",{scope:"col",children:"Definitions"})]})]})}),i("tbody",{children:(nodes.value?.nodes??[]).map(node=>i(
"tr",{children:[i("th",{scope:"row",children:[i(Text,{mono:!0,children:node.node})," ",node.self&&i("small",{children:"this one"})]}),i("td",{children:[node.alive?
i(Badge,{tone:"ok",children:"serving"}):i(Badge,{tone:"bad",children:["silent since ",clock(node.seen_unix_s,!0)]}),node.errors>0&&i(Badge,{tone:"warn",children:[
node.errors," ",node.errors===1?"error":"errors"," in its files"]}),narrow.value&&differs(node)]}),!narrow.value&&i($,{children:[i("td",{children:node.version}),
i("td",{children:i(Ago,{at:node.started_unix_s})}),i("td",{class:"number",children:count(node.apis)}),i("td",{children:[differs(node)??(nodes.value.nodes.length>
1&&i(Badge,{tone:"ok",children:"as the others"}))," ",i(Text,{mono:!0,children:node.configuration})]}),i("td",{children:node.shared_definitions?i($,{children:["\
revision ",count(node.shared_definitions.revision)," ",!node.shared_definitions.store_up&&i(Badge,{tone:"bad",children:"store away"})]}):"its files"})]})]},node.
node))})]})}),i(WhichGateway,{}),now2.failure?i(ErrorBox,{failure:now2.failure,retry:now2.again,since:now2.at??void 0}):null,i("div",{class:"two",children:[i(Panel,
{title:"Stores",children:at?.stores?.length?i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Store"}),i("t\
h",{scope:"col",children:"State"}),i("th",{scope:"col",class:"number",children:"p50"}),i("th",{scope:"col",class:"number",children:"p99"}),i("th",{scope:"col",class:"\
number",children:"Faults"})]})}),i("tbody",{children:at.stores.map(one=>i("tr",{children:[i("th",{scope:"row",children:one.store}),i("td",{children:one.up?i(Badge,
{tone:"ok",children:"answers"}):i(Badge,{tone:"bad",children:one.trouble||"does not answer"})}),i("td",{class:"number",children:percentile(one.p50_us,1e7)}),i("\
td",{class:"number",children:percentile(one.p99_us,1e7)}),i("td",{class:`number ${one.faults?"bad":""}`,children:count(one.faults)})]},one.store))})]}):i("div",
{class:"empty small",children:at?"No store is in use.":"Loading"})}),i(Panel,{title:"Records",note:"where requests are recorded",children:at?.sinks?.length?i("t\
able",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Sink"}),i("th",{scope:"col",class:"number",children:"Written"}),
i("th",{scope:"col",class:"number",children:"Waiting"}),i("th",{scope:"col",class:"number",children:"Lost"})]})}),i("tbody",{children:at.sinks.map(one=>i("tr",{
children:[i("th",{scope:"row",children:one.sink}),i("td",{class:"number",children:count(one.written)}),i("td",{class:"number",children:count(one.waiting)}),i("t\
d",{class:`number ${one.dropped+one.failed?"bad":""}`,children:count(one.dropped+one.failed)})]},one.sink))})]}):i("div",{class:"empty small",children:at?"Reque\
sts are not recorded: enable_analytics is off.":"Loading"})})]}),i("div",{class:"two",children:[i(Panel,{title:"Middlewares",note:"mean of sampled requests",children:at?.
middlewares?.length?i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Middleware"}),i("th",{scope:"col",class:"\
number",children:"Mean"}),i("th",{scope:"col",class:"number",children:"Samples"})]})}),i("tbody",{children:at.middlewares.map(one=>i("tr",{children:[i("th",{scope:"\
row",children:one.middleware}),i("td",{class:"number",children:duration(one.mean_ns/1e3)}),i("td",{class:"number",children:count(one.samples)})]},one.middleware))})]}):
i("div",{class:"empty small",children:"No sample yet."})}),i(Panel,{title:"Process",note:at?visible(at.node):"",children:i("div",{class:"body",children:i(Facts,
{children:[i(Fact,{name:"Version",children:at?.version??session.value?.version}),i(Fact,{name:"Up since",children:at?i($,{children:[i(Ago,{at:at.started_unix_ms/
1e3})," ",i("small",{children:full(at.started_unix_ms/1e3)})]}):UNKNOWN}),i(Fact,{name:"Cores busy",children:at?.core_busy?.map(percent).join(", ")??UNKNOWN}),i(
Fact,{name:"Connections",children:at?`${count(at.connections.client)} of clients, ${count(at.connections.upstream)} to upstreams`:UNKNOWN}),i(Fact,{name:"Withou\
t an API",children:at?.unrouted?Object.entries(at.unrouted).filter(([what])=>what in UNROUTED).map(([what,number])=>`${UNROUTED[what]} ${count(number)}`).join("\
, "):UNKNOWN})]})})})]})]})}function Problems(){let now2=useFigures(),reload=now2.value?.reload;return now2.failure&&!reload?i($,{children:[i(WhichGateway,{}),i(
ErrorBox,{failure:now2.failure,retry:now2.again})]}):reload?i($,{children:[i(WhichGateway,{}),reload.last_failed&&i(Note,{tone:"bad",icon:"alert",children:["The\
 last reload found errors: what is named below is left out. Everything else serves",reload.last_ok_unix_s?`; the last reload without errors was at ${moment(reload.
last_ok_unix_s)}`:"","."]}),i(Panel,{title:"Problems of the configuration",note:`${count(reload.errors)} ${reload.errors===1?"error":"errors"}, ${count(reload.warnings)}\
 ${reload.warnings===1?"warning":"warnings"}; read in ${duration(reload.last_us)}`,children:reload.problems.length===0?i(Empty,{icon:"ok",title:"The configurati\
on has no problem."}):i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Level"}),i("th",{scope:"col",children:"\
File"}),i("th",{scope:"col",children:"Where"}),i("th",{scope:"col",children:"What"})]})}),i("tbody",{children:reload.problems.map((one,at)=>i("tr",{children:[i(
"td",{children:i(Badge,{tone:one.level==="error"?"bad":"warn",children:one.level})}),i("th",{scope:"row",children:i(Text,{mono:!0,children:one.file})}),i("td",{
children:i(Text,{mono:!0,children:one.path})}),i("td",{children:i(Text,{children:one.message})})]},at))})]})})]}):i(WhichGateway,{})}function Changes(){let q=route.
value.query,list=useList("changes",{q:q.get("q")??void 0}),[open,setOpen]=w(null),where=row2=>row2.target?row2.kind==="api"?link(["apis",row2.target]):row2.kind===
"key"?link(["keys",row2.target]):row2.kind==="policy"?link(["policies"],{open:row2.target}):void 0:void 0;return i($,{children:[i("div",{class:"toolbar",children:[
i(Filter,{label:"Filter changes",placeholder:"User, target, action"}),i("small",{children:"Kept for 90 days."})]}),i(Table,{label:"Changes",list,id:row2=>`${row2.
time} ${row2.action} ${row2.target} ${list.rows.indexOf(row2)}`,open:setOpen,empty:i(Empty,{icon:"clock",title:"No change is recorded."}),columns:[{id:"time",bare:!0,
name:"Time",show:row2=>i("time",{title:full(row2.time),children:moment(row2.time,!0)})},{id:"user",bare:!0,name:"Who",show:row2=>i(Text,{children:row2.user||"no\
body"})},{id:"action",bare:!0,name:"Did",show:row2=>i(Badge,{tone:row2.status>=400||row2.action.includes("failed")?"bad":row2.action==="delete"?"warn":"muted",children:row2.
action.replaceAll("_"," ")})},{id:"target",name:"What",grow:!0,show:row2=>i($,{children:[i("small",{children:row2.kind})," ",where(row2)?i("a",{href:where(row2),
children:i(Text,{children:row2.target})}):i(Text,{children:row2.target})]})},{id:"diff",bare:!0,name:"Fields",number:!0,show:row2=>row2.diff?.length?`${count(row2.
diff.length+(row2.diff_more??0))} changed`:""},{id:"node",name:"Gateway",show:row2=>i(Text,{mono:!0,children:row2.node})},{id:"address",name:"From",show:row2=>i(
Text,{mono:!0,children:row2.address})}]}),open&&i(Dialog,{title:`${open.action.replaceAll("_"," ")} ${open.kind??""}`,close:()=>setOpen(null),wide:!0,children:[
i(Facts,{children:[i(Fact,{name:"Who",children:[i(Text,{children:open.user})," ",i("small",{children:open.role})]}),i(Fact,{name:"At",children:full(open.time)}),
i(Fact,{name:"What",children:where(open)?i("a",{href:where(open),children:i(Text,{children:open.target})}):i(Text,{children:open.target})}),i(Fact,{name:"From",
children:i(Text,{mono:!0,children:open.address})}),i(Fact,{name:"Gateway",children:i(Text,{mono:!0,children:open.node})})]}),open.diff?.length>0&&i("table",{class:"\
plain",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Field"}),i("th",{scope:"col",children:"Before"}),i("th",{scope:"col",children:"\
After"})]})}),i("tbody",{children:open.diff.map(one=>i("tr",{children:[i("th",{scope:"row",children:i(Text,{mono:!0,children:one.path})}),i("td",{children:i(Text,
{mono:!0,children:shown2(one.old)})}),i("td",{children:i(Text,{mono:!0,children:shown2(one.new)})})]},one.path))})]}),open.diff_more>0&&i("small",{children:["an\
d ",count(open.diff_more)," more fields"]})]})]})}var shown2=value=>value==null?"none":typeof value=="string"?value:JSON.stringify(value);function Users2(){let admin=may(
"admin"),users=useLoaded(()=>admin?get("users"):Promise.resolve(null),[0]),[editing,setEditing]=w(null),[own,setOwn]=w(!1),adding=route.value.query.get("new"),remove2=async name=>{
try{await call("DELETE",`users/${segment(name)}`),say("ok",`${name} is removed and signed out.`),users.again(),setEditing(null)}catch(failure){say("bad",failure.
message)}};return i($,{children:[!admin&&i(Note,{children:"Only admins see and change users."}),i("div",{class:"toolbar",children:[admin&&i(Button,{icon:"plus",
kind:"primary","data-key":"n",onClick:()=>refine({new:"1"}),children:"Add a user"}),!session.value?.by_secret&&i(Button,{onClick:()=>setOwn(!0),children:"Change\
 my password"})]}),users.failure?i(ErrorBox,{failure:users.failure,retry:users.again}):null,admin&&users.value&&i(Panel,{title:"Users",note:"admin: everything; \
editor: all but users and secrets; viewer: reads",children:users.value.users.length===0?i(Empty,{icon:"client",title:"There is no named user.",children:"Everybo\
dy who knows the control secret is an admin, and changes do not say who made them."}):i("table",{class:"plain",children:[i("thead",{children:i("tr",{children:[i(
"th",{scope:"col",children:"Name"}),i("th",{scope:"col",children:"Role"}),i("th",{scope:"col",children:"Reaches"}),i("th",{scope:"col",children:"Since"}),i("th",
{scope:"col",children:i("span",{class:"sr",children:"Actions"})})]})}),i("tbody",{children:users.value.users.map(one=>i("tr",{children:[i("th",{scope:"row",children:i(
Text,{children:one.name})}),i("td",{children:i(Badge,{tone:one.role==="admin"?"accent":"muted",children:one.role})}),i("td",{children:i(Text,{children:scopeText(
one.scope)})}),i("td",{children:i(Ago,{at:one.created})}),i("td",{class:"number",children:i(Button,{kind:"quiet",onClick:()=>setEditing(one),children:"Change"})})]},
one.name))})]})}),admin&&i(Tokens,{}),(adding||editing)&&admin&&i(User,{user:editing,close:()=>{setEditing(null),refine({new:void 0})},saved:()=>{setEditing(null),
refine({new:void 0}),users.again()},remove:remove2}),own&&i(OwnPassword,{close:()=>setOwn(!1)})]})}var wordsOf=scope=>({tags:(scope?.tags??[]).join(", "),orgs:(scope?.
orgs??[]).join(", ")});function scopeOf(role,words){let list=text=>text.split(",").map(word=>word.trim()).filter(Boolean),[tags,orgs]=[list(words.tags),list(words.
orgs)];return role==="admin"||tags.length+orgs.length===0?null:{tags,orgs}}function ScopeFields({words,change}){return i($,{children:[i(Field,{label:"Tags",hint:"\
Only APIs with one of these tags, with commas between them.",children:i("input",{value:words.tags,autocomplete:"off",onInput:event=>change({...words,tags:event.
currentTarget.value})})}),i(Field,{label:"Organisations",hint:"Only APIs of these organisations. Both empty: everything.",children:i("input",{value:words.orgs,autocomplete:"\
off",onInput:event=>change({...words,orgs:event.currentTarget.value})})})]})}function Tokens(){let tokens=useLoaded(()=>get("tokens"),[0]),[making,setMaking]=w(
!1),revoke=async name=>{try{await call("DELETE",`tokens/${segment(name)}`),say("ok",`${name} is revoked.`),tokens.again()}catch(failure){say("bad",failure.message)}};
return i($,{children:[tokens.failure?i(ErrorBox,{failure:tokens.failure,retry:tokens.again}):null,tokens.value&&i(Panel,{class:"after",title:"Tokens",note:"for \
scripts, in place of the control secret",actions:i(Button,{icon:"plus",onClick:()=>setMaking(!0),children:"Make a token"}),children:tokens.value.tokens.length===
0?i(Empty,{icon:"key",title:"There is no token.",children:"A script with a token may do what its role may, until it ends or is revoked."}):i("table",{class:"pla\
in",children:[i("thead",{children:i("tr",{children:[i("th",{scope:"col",children:"Name"}),i("th",{scope:"col",children:"Role"}),i("th",{scope:"col",children:"Re\
aches"}),i("th",{scope:"col",children:"Last used"}),i("th",{scope:"col",children:"Ends"}),i("th",{scope:"col",children:i("span",{class:"sr",children:"Actions"})})]})}),
i("tbody",{children:tokens.value.tokens.map(one=>i("tr",{children:[i("th",{scope:"row",children:i(Text,{children:one.name})}),i("td",{children:i(Badge,{tone:one.
role==="admin"?"accent":"muted",children:one.role})}),i("td",{children:i(Text,{children:scopeText(one.scope)})}),i("td",{children:one.last_used?i(Ago,{at:one.last_used}):
"never"}),i("td",{children:i(Ago,{at:one.expires})}),i("td",{class:"number",children:i(Button,{kind:"quiet",onClick:()=>revoke(one.name),children:"Revoke"})})]},
one.id))})]})}),making&&i(NewToken,{close:()=>{setMaking(!1),tokens.again()}})]})}function NewToken({close}){let[name,setName]=w(""),[role,setRole]=w("editor"),
[scope,setScope]=w(wordsOf()),[days,setDays]=w("90"),[made,setMade]=w(null),[failure,setFailure]=w(null),save=async event=>{event.preventDefault();try{setMade(await call(
"POST","tokens",{name,role,scope:scopeOf(role,scope),expires_in_s:Math.round(Number(days)*86400)})),setFailure(null)}catch(failed){setFailure(failed)}};return made?
i(Dialog,{title:made.name,close,footer:i(Button,{kind:"primary",onClick:close,children:"Done"}),children:[i("p",{children:"This is the token. It is shown this o\
nce."}),i("pre",{class:"line",children:[i("code",{children:made.token}),i(Copy,{text:made.token,label:"Copy the token"})]})]}):i(Dialog,{title:"Make a token",close,
footer:i($,{children:[i(Button,{onClick:close,children:"Cancel"}),i(Button,{kind:"primary",type:"submit",form:"token",children:"Make it"})]}),children:i("form",
{id:"token",class:"form",onSubmit:save,children:[failure?i("div",{class:"field wide",children:i(ErrorBox,{failure})}):null,i(Field,{label:"Name",children:i("inp\
ut",{autofocus:!0,required:!0,value:name,autocomplete:"off",onInput:event=>setName(event.currentTarget.value)})}),i(Field,{label:"Role",children:i("select",{value:role,
onChange:event=>setRole(event.currentTarget.value),children:[i("option",{value:"viewer",children:"viewer: reads"}),i("option",{value:"editor",children:"editor: \
all but users and secrets"}),i("option",{value:"admin",children:"admin: everything"})]})}),role!=="admin"&&i(ScopeFields,{words:scope,change:setScope}),i(Field,
{label:"Days",hint:"At most 366.",children:i("input",{type:"number",min:"1",max:"366",required:!0,value:days,onInput:event=>setDays(event.currentTarget.value)})})]})})}
var PASSWORD_MIN=12;function User({user,close,saved,remove:remove2}){let[name,setName]=w(user?.name??""),[role,setRole]=w(user?.role??"editor"),[scope,setScope]=w(
wordsOf(user?.scope)),[password,setPassword]=w(""),[failure,setFailure]=w(null),save=async event=>{event.preventDefault();try{let reached=scopeOf(role,scope);user?
(await call("PUT",`users/${segment(user.name)}`,{role,scope:reached}),password&&await call("POST",`users/${segment(user.name)}/password`,{new:password})):await call(
"POST","users",{name,role,scope:reached,password}),say("ok",user?"Saved.":`${name} can sign in.`),saved()}catch(failed){setFailure(failed)}};return i(Dialog,{title:user?
user.name:"Add a user",close,footer:i($,{children:[i("span",{children:user&&i(Button,{icon:"trash",kind:"quiet",onClick:()=>remove2(user.name),children:"Remove"})}),
i(Button,{onClick:close,children:"Cancel"}),i(Button,{kind:"primary",type:"submit",form:"user",children:user?"Save":"Add"})]}),children:i("form",{id:"user",class:"\
form",onSubmit:save,children:[failure?i("div",{class:"field wide",children:i(ErrorBox,{failure})}):null,!user&&i(Field,{label:"Name",children:i("input",{autofocus:!0,
required:!0,value:name,autocomplete:"off",onInput:event=>setName(event.currentTarget.value)})}),i(Field,{label:"Role",children:i("select",{value:role,onChange:event=>setRole(
event.currentTarget.value),children:[i("option",{value:"viewer",children:"viewer: reads"}),i("option",{value:"editor",children:"editor: all but users and secret\
s"}),i("option",{value:"admin",children:"admin: everything"})]})}),role!=="admin"&&i(ScopeFields,{words:scope,change:setScope}),i(Field,{label:user?"New passwor\
d":"Password",hint:`At least ${PASSWORD_MIN} characters.${user?" Empty: as it is.":""}`,children:i("input",{type:"password",autocomplete:"new-password",required:!user,
minLength:PASSWORD_MIN,value:password,onInput:event=>setPassword(event.currentTarget.value)})})]})})}function OwnPassword({close}){let[old,setOld]=w(""),[fresh,
setFresh]=w(""),[failure,setFailure]=w(null);return i(Dialog,{title:"Change my password",close,footer:i($,{children:[i(Button,{onClick:close,children:"Cancel"}),
i(Button,{kind:"primary",type:"submit",form:"own",children:"Change"})]}),children:i("form",{id:"own",class:"form",onSubmit:async event=>{event.preventDefault();
try{await call("POST",`users/${segment(session.value?.user??"")}/password`,{old,new:fresh}),say("ok","Password changed."),close()}catch(failed){setFailure(failed)}},
children:[failure?i("div",{class:"field wide",children:i(ErrorBox,{failure})}):null,i(Field,{label:"Old password",children:i("input",{type:"password",autofocus:!0,
required:!0,autocomplete:"current-password",value:old,onInput:event=>setOld(event.currentTarget.value)})}),i(Field,{label:"New password",hint:`At least ${PASSWORD_MIN}\
 characters.`,children:i("input",{type:"password",required:!0,minLength:PASSWORD_MIN,autocomplete:"new-password",value:fresh,onInput:event=>setFresh(event.currentTarget.
value)})})]})})}export{ApiPage,Certificates,Clients,KeyPage,Models,Policies,PortalPlace,System};
