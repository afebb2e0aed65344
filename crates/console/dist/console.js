import{$,APIS_MAX,Ago,Badge,Button,Copy,D,Dialog,E,Empty,ErrorBox,Fact,Facts,Failure,Field,Filter,Icon,Keys,LinkButton,Logo,Note,Overview,S,Spark,Table,Text,Toasts,
U,Usage,ago,apis,bytes,call,clock,count,dark,door,duration,ended,ends,full,get,go,he,here,highest,i,lastSeen,latest,link,listKeys,load,may,mayBeKey,moment,narrow,
now,offset,onTail,outcome,percent,percentile,query,rate,refine,reread,route,say,session,signIn,signOut,silent,span,start,state,stop,tailFilters,theme,tick,usd,useList,
utc,visible,w}from"./chunk.js";function SignIn(){let at=door.value,[bySecret,setBySecret]=w(null),[user,setUser]=w(""),[word,setWord]=w(""),[busy,setBusy]=w(!1),[refused,setRefused]=w(null),[
wait,setWait]=w(0);S(()=>{if(wait<=0)return;let timer=setTimeout(()=>setWait(wait-1),1e3);return()=>clearTimeout(timer)},[wait]);let secret=bySecret??!at?.users;
return i("main",{class:"sign-in",children:[i("form",{class:"panel",onSubmit:async event=>{if(event.preventDefault(),wait>0||busy)return;let form=new FormData(event.
currentTarget),secretNow=String(form.get("password")??""),userNow=String(form.get("user")??"");setBusy(!0),setRefused(null);try{await signIn(secret?{secret:secretNow}:
{user:userNow,password:secretNow})}catch(failure){setWord(""),failure instanceof Failure&&failure.status===429&&setWait(Math.max(1,Math.ceil(failure.body.wait_s??
1)));let left=failure instanceof Failure?failure.body.tries_left:void 0;setRefused(failure.message.replace(/[.]?$/,".")+(typeof left=="number"&&left<=3?` ${left}\
 ${left===1?"try":"tries"} left before a wait.`:""))}finally{setBusy(!1)}},children:[i("h1",{children:[i(Logo,{}),"Tollgate"]}),silent.value&&i(Note,{tone:"bad",
icon:"alert",actions:i(Button,{onClick:()=>{load()},children:"Retry"}),children:silent.value}),ended.value&&!refused&&i(Note,{children:"Your session has ended. \
Sign in to go on where you were."}),at?.insecure?i($,{children:[i(Note,{tone:"warn",icon:"alert",children:"This connection is not encrypted, so the secret could\
 be read on its way. Open a tunnel, then the console on your own machine:"}),i("pre",{class:"line",children:[i("code",{children:at.ssh}),at.ssh&&i(Copy,{text:at.
ssh,label:"Copy the command"})]})]}):i($,{children:[at?.providers?.map(([title,href])=>i(LinkButton,{href,children:["Sign in with ",visible(title)]},href)),!!at?.
providers?.length&&i("p",{class:"or",children:"or"}),!secret&&i("label",{class:"field",children:[i("span",{children:"Name"}),i("input",{name:"user",autocomplete:"\
username",autofocus:!0,required:!0,value:user,onInput:event=>setUser(event.currentTarget.value)})]}),i("label",{class:"field",children:[i("span",{children:secret?
"Control secret":"Password"}),i("input",{name:"password",type:"password",autocomplete:"current-password",autofocus:secret,required:!0,value:word,onInput:event=>setWord(
event.currentTarget.value)}),secret&&i("em",{children:at?.secret_file?i($,{children:["It is in ",i("code",{children:at.secret_file})," on the gateway's machine."]}):
i($,{children:["It is the ",i("code",{children:"secret"})," of the gateway's configuration, or ",i("code",{children:"TYK_GW_SECRET"}),"."]})})]}),refused&&i("p",
{class:"refused bad",role:"alert",children:refused}),i(Button,{kind:"primary",type:"submit",disabled:busy||wait>0,children:wait>0?`Wait ${wait} s`:busy?"Signing\
 in":"Sign in"}),at?.users&&i("button",{type:"button",class:"as-link",onClick:()=>{setBySecret(!secret),setWord(""),setRefused(null)},children:secret?"Sign in w\
ith a name":"Sign in with the control secret"})]})]}),i("p",{class:"version",children:at?.version?`Version ${at.version}`:""})]})}function Apis(){let q=route.value.query,list=useList("apis",{q:q.get("q")??void 0,sort:q.get("sort")??"name"}),writable=session.value?.writable.apis??!1,can=may(
"editor")&&writable,fresh=i(Button,{icon:"plus",kind:"primary","data-key":"n",onClick:()=>refine({new:"1"}),children:"New API"});return i($,{children:[i("div",{
class:"page-head",children:[i("h1",{children:["APIs",list.total!=null&&i("small",{children:count(list.total)})]}),i(Filter,{label:"Filter APIs",placeholder:"Nam\
e, path, host, target, tag"}),can&&fresh]}),!can&&i("p",{class:"list-end",children:may("editor")?"Definitions cannot be written here: they come from a read-only\
 place. They can be viewed and copied.":"Your role can view definitions, not change them."}),i(Table,{label:"APIs",list,id:row=>row.id,href:row=>link(["apis",row.
id]),order:"name",empty:q.get("q")?i(Empty,{icon:"search",title:"No API matches.",children:i(Button,{onClick:()=>refine({q:void 0}),children:"Clear the filter"})}):
i(Empty,{icon:"api",title:"There is no API yet.",children:["An API says which requests go to which upstream.",i("br",{}),can&&fresh]}),columns:[{id:"name",name:"\
Name",sort:"name",grow:!0,show:row=>i("a",{href:link(["apis",row.id]),children:i(Text,{children:row.name||row.id})})},{id:"state",bare:!0,name:"State",show:row=>row.
active?row.internal?i(Badge,{tone:"muted",children:"internal"}):row.problems.errors?i("a",{href:"#/system/problems",children:i(Badge,{tone:"bad",title:"Its file\
 has errors, so its last good version serves",children:counted(row.problems.errors,"error")})}):row.problems.warnings?i("a",{href:"#/system/problems",children:i(
Badge,{tone:"warn",children:counted(row.problems.warnings,"warning")})}):i(Badge,{tone:"ok",children:"served"}):i(Badge,{tone:"muted",children:"inactive"})},{id:"\
path",bare:!0,name:"Listen path",sort:"listen_path",show:row=>i(Text,{mono:!0,children:`${row.host??""}${row.listen_path}`})},{id:"auth",name:"Auth",show:row=>row.
auth.join(", ")},{id:"trend",name:"Past minutes",wide:!0,show:row=>{tick.value;let series=apis.get(row.id);return series?i(Spark,{values:series.columns.requests}):
null}},{id:"rate",name:"/s",sort:"requests",number:!0,show:row=>rate(rate2(row))},{id:"error_rate",name:"Failed",sort:"errors",number:!0,show:row=>{let share=failing(
row.id);return i("span",{class:share&&share>=.01?"bad":"",children:percent(share)})}},{id:"p99",name:"p99",sort:"p99_ms",number:!0,show:row=>percentile(highest(
apis.get(row.id),"upstream_p99_us",60)??(row.p99_ms==null?null:row.p99_ms*1e3),ends.value.upstream)},{id:"last",name:"Last request",number:!0,show:row=>i(Last,{
row})}]}),q.get("new")&&can&&i(NewApi,{close:()=>refine({new:void 0})})]})}var counted=(number,what)=>`${number} ${what}${number===1?"":"s"}`;function rate2(row){
return tick.value,latest(apis.get(row.id),"requests",30)??(now.value&&now.value.apis.length<APIS_MAX?0:null)}function Last({row}){let at=lastSeen(apis.get(row.id));
return at?i(Ago,{at}):row.requests?i("small",{children:"over 1 h ago"}):i("small",{children:"none"})}function failing(id){let series=apis.get(id),requests=latest(
series,"requests",30);return requests?(latest(series,"server_errors",30)??0)/requests:null}function NewApi({close}){let[name,setName]=w(""),[path,setPath]=w(null),
[target,setTarget]=w(""),[auth,setAuth]=w("token"),[failure,setFailure]=w(null),[problems,setProblems]=w([]),[busy,setBusy]=w(!1),plain=name.toLowerCase().replace(
/[^a-z0-9]+/g,"-").replace(/^-|-$/g,""),listen=path??(plain?`/${plain}/`:""),save=async event=>{event.preventDefault(),setBusy(!0),setFailure(null);let id=plain||
`api-${Date.now().toString(36)}`,definition={name,api_id:id,org_id:"default",active:!0,use_keyless:auth==="keyless",...auth==="token"?{auth:{auth_header_name:"A\
uthorization"}}:{},...auth==="basic"?{use_basic_auth:!0}:{},version_data:{not_versioned:!0,versions:{Default:{name:"Default",use_extended_paths:!0}}},proxy:{listen_path:listen,
target_url:target,strip_listen_path:!0}};try{let check=await call("POST","check/api",definition).catch(failed=>{if(failed instanceof Failure&&failed.status===404)
return{ok:!0,problems:[]};throw failed});if(setProblems(check.problems),!check.ok)return;await call("POST","apis",definition,{headers:{"If-None-Match":"*"}}),await reread(),
say("ok",i($,{children:["API ",i("b",{children:visible(name)})," serves ",visible(listen),". ",i("a",{href:link(["keys"],{new:"1",api:id}),children:"Make a key \
for it"})]})),go(link(["apis",id]))}catch(failed){setFailure(failed)}finally{setBusy(!1)}},at=part=>problems.find(one=>one.path.includes(part))?.message;return i(
Dialog,{title:"New API",close,children:i("form",{id:"new-api",class:"form",onSubmit:save,children:[failure?i("div",{class:"field wide",children:i(ErrorBox,{failure})}):
null,i(Field,{label:"Name",error:at("name"),wide:!0,children:i("input",{autofocus:!0,required:!0,maxLength:200,value:name,onInput:event=>setName(event.currentTarget.
value),placeholder:"Shop"})}),i(Field,{label:"Listen path",error:at("listen_path"),hint:"Requests below this path are this API's.",children:i("input",{required:!0,
class:"mono",value:listen,onInput:event=>setPath(event.currentTarget.value),placeholder:"/shop/"})}),i(Field,{label:"Upstream",error:at("target_url"),hint:"The \
listen path is removed before.",children:i("input",{required:!0,type:"text",class:"mono",value:target,onInput:event=>setTarget(event.currentTarget.value),placeholder:"\
http://127.0.0.1:9090/"})}),i(Field,{label:"Who may call",wide:!0,hint:auth==="keyless"?"Everybody who reaches the gateway.":auth==="token"?"Callers send a key \
in the header Authorization.":"Callers send a name and a password.",children:i("select",{value:auth,onChange:event=>setAuth(event.currentTarget.value),children:[
i("option",{value:"token",children:"Callers with a key"}),i("option",{value:"basic",children:"Users with a password"}),i("option",{value:"keyless",children:"Eve\
rybody"})]})}),problems.filter(one=>one.level==="error"&&!/name|listen_path|target_url/.test(one.path)).map(one=>i(Note,{tone:"bad",icon:"alert",children:[i("co\
de",{children:one.path})," ",one.message]},one.path)),i("div",{class:"row",style:{gridColumn:"1 / -1",justifyContent:"flex-end"},children:[i(Button,{onClick:close,
children:"Cancel"}),i(Button,{kind:"primary",type:"submit",disabled:busy,children:"Make the API"})]})]})})}var KEPT_MAX=1e3,ROWS_MAX=500,rawKey=D(""),FILTERS=["api","key","alias","status","cause","address","request_id","trace"],numbered=0;function understood(text){let word=text.
trim();return word?/^[1-5](xx|\d\d)$/.test(word)?{status:word}:/^[0-9a-f.:]*[.:][0-9a-f.:]*$/i.test(word)&&/\d/.test(word)?{address:word}:{any:word}:{}}function Tail(){
let q=route.value.query,filters=Object.fromEntries(FILTERS.flatMap(name=>q.get(name)?[[name,q.get(name)]]:[])),asked=JSON.stringify(filters),[rows,setRows]=w([]),
[told,setTold]=w({shown:0,seen:0,sampled:1,kept:0,missing:0}),[paused,setPaused]=w(!1),[failure,setFailure]=w(null),[ready,setReady]=w(!1),[unknown,setUnknown]=w(
!1),[box,setBox]=w(q.get("q")??""),held=U([]),[waiting,setWaiting]=w(0),open=q.get("open");S(()=>{setBox(q.get("q")??"")},[q.get("q")]);let load2=()=>{setFailure(
null);let{raw,...plain}={...filters,raw:rawKey.value};(raw?call("POST","tail",{...plain,raw_key:raw,limit:ROWS_MAX,nodes:"all"}):get(`tail${query({...plain,limit:ROWS_MAX,
nodes:"all"})}`,{byItself:!0})).then(found=>{if(setRows(found.entries.map(entry=>({...entry,number:++numbered}))),setTold({shown:0,seen:0,sampled:1,kept:found.kept,
missing:found.missing.length}),raw){let key=found.entries[0]?.key;rawKey.value="",setUnknown(!key),key&&refine({key})}setReady(!0)},setFailure)};S(load2,[asked,
rawKey.value!==""]),S(()=>{let{alias:_,request_id:__,trace:___,address:____,...follow}=filters;return tailFilters.value=follow,()=>{tailFilters.value=null}},[asked]),
S(()=>onTail(batch=>{let match=entry=>(!filters.alias||entry.alias===filters.alias)&&(!filters.address||entry.address===filters.address)&&(!filters.request_id||
entry.request_id===filters.request_id)&&(!filters.trace||entry.trace_id===filters.trace),fresh=batch.entries.filter(match).map(entry=>({...entry,number:++numbered})).
reverse();if(setTold(old=>({...old,shown:old.shown+fresh.length,seen:old.seen+batch.seen,sampled:batch.sampled})),paused){held.current=[...fresh,...held.current].
slice(0,KEPT_MAX),setWaiting(held.current.length);return}setRows(old=>[...fresh,...old].slice(0,KEPT_MAX))}),[paused,asked]);let pause=()=>{paused&&(setRows(old=>[
...held.current,...old].slice(0,KEPT_MAX)),held.current=[],setWaiting(0)),setPaused(!paused)},look=row=>{paused||pause(),refine({open:String(row.number)})},any=(understood(
box).any??"").toLowerCase(),shown=any?rows.filter(row=>[row.path,row.key,row.alias,row.address,row.request_id,row.trace_id,row.cause,row.agent,row.name,row.api_id,
row.middleware,row.mcp_method,row.mcp_primitive_name].some(text=>text?.toLowerCase().includes(any))):rows,picked=open?rows.find(row=>String(row.number)===open):
void 0,type=text=>{if(setBox(text),setUnknown(!1),mayBeKey(text.trim())&&!/^[0-9a-f]{32}$|[/.:]/.test(text.trim())){rawKey.value=text.trim(),setBox(""),refine({
q:void 0});return}let known=understood(text);known.status?refine({status:known.status,q:void 0}):known.address&&text.length>6?refine({q:text}):refine({q:text||void 0})};
return i($,{children:[i("div",{class:"page-head",children:[i("h1",{children:"Live tail"}),i("label",{class:"filter",children:[i(Icon,{name:"search"}),i("input",
{type:"search","aria-label":"Filter the tail",placeholder:"Path, key, alias, address, request id, 429, 5xx",value:box,autocomplete:"off",spellcheck:!1,onInput:event=>type(
event.currentTarget.value)})]}),i(Button,{icon:paused?"play":"pause","aria-pressed":paused,onClick:pause,children:paused?`Go on${waiting?` (${waiting})`:""}`:"P\
ause"})]}),i("div",{class:"toolbar",children:[i("select",{"aria-label":"Status",value:filters.status??"",onChange:event=>refine({status:event.currentTarget.value||
void 0}),children:[i("option",{value:"",children:"every status"}),["2xx","4xx","401","403","404","429","5xx","502","504"].concat(filters.status&&!["2xx","4xx","\
401","403","404","429","5xx","502","504"].includes(filters.status)?[filters.status]:[]).map(one=>i("option",{value:one,children:one},one))]}),FILTERS.filter(name=>name!==
"status"&&filters[name]).map(name=>i("span",{class:"chip",children:[i("bdi",{children:[name.replace("_"," "),": ",visible(filters[name])]}),i("button",{type:"bu\
tton","aria-label":`Remove the filter ${name}`,onClick:()=>refine({[name]:void 0}),children:i(Icon,{name:"close"})})]},name)),i("small",{class:"push",role:"stat\
us",children:[told.seen>0?`${count(told.shown)} shown of ${count(told.seen)} seen${told.sampled>1?`, 1 in ${told.sampled} sampled`:""}; `:"",count(told.kept)," \
refusals and failures kept",told.missing>0?`, without those of ${told.missing} silent ${told.missing===1?"gateway":"gateways"}`:""]})]}),failure?i(ErrorBox,{failure,
retry:load2}):null,unknown&&i(Note,{children:"No request with this key was refused or failed among those that are kept."}),ready&&i(Table,{label:"Requests",list:here(
shown),id:row=>String(row.number),open:look,tone:row=>row.status>=500?"failed":void 0,empty:i(Empty,{icon:"tail",title:any||Object.keys(filters).length?"Nothing\
 matches among what is kept.":"Nothing was refused, and nothing failed.",children:["Requests appear here as they come",Object.keys(filters).length?i($,{children:[
". ",i(Button,{onClick:()=>refine(Object.fromEntries(FILTERS.map(name=>[name,void 0]))),children:"Clear the filters"})]}):"."]}),columns:[{id:"time",bare:!0,name:"\
Time",show:row=>i("time",{title:full(row.unix_ms/1e3),children:clock(row.unix_ms/1e3,!0)})},{id:"status",bare:!0,name:"Status",show:row=>i(Badge,{tone:tone(row),
children:row.status||"none"})},{id:"why",bare:!0,name:"Why",show:row=>row.cause?i(Text,{children:row.cause.replaceAll("_"," ")}):row.llm&&!["ok","cached"].includes(
row.llm.outcome)?i(Text,{children:outcome(row.llm.outcome)[1]}):i("small",{children:row.status>=400?"upstream's answer":"passed"})},{id:"path",name:"Request",grow:!0,
show:row=>i("button",{type:"button",class:"as-link",onClick:()=>look(row),children:i(Text,{mono:!0,children:`${row.method} ${row.path}${row.mcp_method?`: ${called(
row)}`:""}`})})},{id:"api",name:"API",show:row=>i(Text,{children:row.name||row.api_id||"none"})},{id:"key",name:"Key",show:row=>i(Text,{children:row.alias||row.
key.slice(0,12)||"none"})},{id:"address",name:"Address",show:row=>i(Text,{mono:!0,children:row.address})},{id:"took",name:"Took",number:!0,show:row=>duration(row.
total_us)}]}),picked&&i(Why,{entry:picked,close:()=>refine({open:void 0})})]})}var called=entry=>entry.mcp_primitive_type?`${entry.mcp_method} ${entry.mcp_primitive_name}`:
entry.mcp_method,tone=entry=>entry.status>=500||!entry.status?"bad":entry.status>=400?"warn":"ok";function Why({entry,close}){let{limit}=entry,passes=limit?.retry_unix_s?
limit.retry_unix_s-Date.now()/1e3:null;return i(Dialog,{title:`${entry.status||"No response"}: ${entry.cause?visible(entry.cause.replaceAll("_"," ")):entry.status>=
400?"answered by the upstream":"passed"}`,close,side:!0,children:[entry.cause?i("div",{class:`why ${tone(entry)}`,children:[i("p",{children:i("b",{children:i(Text,
{children:sentence(entry)})})}),limit&&i("p",{children:["Limit: ",count(limit.max)," per ",span(limit.per_s),", of the ",limit.of,". ",limit.left>0?`${count(limit.
left)} left then.`:"Nothing was left."," ",passes!=null&&(passes>0?i($,{children:["The next request passes at ",i("b",{children:moment(limit.retry_unix_s,!0)}),
", ",ago(limit.retry_unix_s),"."]}):`It has passed again since ${moment(limit.retry_unix_s,!0)}.`)]})]}):null,i(Facts,{children:[i(Fact,{name:"Request",children:[
i(Text,{mono:!0,children:`${entry.method} ${entry.path}`})," ",i("small",{children:entry.http})]}),entry.mcp_method&&i(Fact,{name:"Call",children:[i(Text,{mono:!0,
children:called(entry)}),entry.mcp_primitive_type&&i("small",{children:[" ",entry.mcp_primitive_type]}),entry.mcp_error_code!=null&&i("small",{children:[" error\
 ",entry.mcp_error_code]})]}),entry.llm&&i(ModelFacts,{llm:entry.llm}),i(Fact,{name:"At",children:full(entry.unix_ms/1e3)}),entry.middleware&&i(Fact,{name:"Refu\
sed by",children:[i("span",{title:"The step of the API's chain",children:entry.middleware}),entry.api_id&&i($,{children:[" ",i("a",{href:link(["apis",entry.api_id,
"chain"]),children:i("small",{children:"the chain"})})]})]}),entry.message&&i(Fact,{name:"The client was told",children:i(Text,{children:entry.message})}),i(Fact,
{name:"API",children:entry.api_id?i($,{children:[i("a",{href:link(["apis",entry.api_id]),children:i(Text,{children:entry.name||entry.api_id})}),entry.version&&i(
"small",{children:[" version ",i(Text,{children:entry.version})]})]}):"none matched"}),i(Fact,{name:"Key",children:entry.key?i($,{children:[i("a",{href:link(["k\
eys",entry.key],{alias:entry.alias}),children:i(Text,{children:entry.alias||entry.key})})," ",i("a",{href:link(["live"],{key:entry.key}),children:i("small",{children:"\
all of this key"})})]}):"none"}),i(Fact,{name:"Client",children:[i(Text,{mono:!0,children:entry.address})," ",i("small",{children:i(Text,{children:entry.agent})})]}),
i(Fact,{name:"Took",children:[duration(entry.total_us),", ",duration(entry.gateway_us)," of it in the gateway",entry.upstream_us!=null&&`, ${duration(entry.upstream_us)}\
 upstream`]}),entry.target&&i(Fact,{name:"Upstream",children:[i(Text,{mono:!0,children:entry.target}),entry.upstream_status>0&&` answered ${entry.upstream_status}`]}),
i(Fact,{name:"Bytes",children:[bytes(entry.request_bytes)," in, ",bytes(entry.response_bytes)," out"]}),i(Fact,{name:"Gateway",children:i(Text,{children:entry.node})}),
entry.request_id&&i(Fact,{name:"Request id",children:i(Text,{mono:!0,children:entry.request_id})}),entry.trace_id&&i(Fact,{name:"Trace",children:i(Text,{mono:!0,
children:entry.trace_id})})]}),entry.llm?.reason&&!entry.cause?i(Note,{tone:tone(entry),children:["The gateway of models says: ",i(Text,{children:entry.llm.reason}),
"."]}):!entry.cause&&(entry.status>=400?i(Note,{tone:tone(entry),children:"The gateway let it pass; the status is the upstream's own."}):i(Note,{children:"The r\
equest passed."}))]})}function ModelFacts({llm}){return i($,{children:[i(Fact,{name:"Model",children:[i(Text,{children:llm.model||"none"}),llm.provider&&i("smal\
l",{children:[" ",i(Text,{children:llm.provider_model})," at ",i(Text,{children:llm.provider})]})," ",i(Badge,{tone:outcome(llm.outcome)[0],children:outcome(llm.
outcome)[1]})]}),llm.team&&i(Fact,{name:"Team",children:i("a",{href:link(["models"],{team:llm.team}),children:i(Text,{children:llm.team})})}),llm.budget&&i(Fact,
{name:"Budget",children:i(Text,{children:llm.budget})}),i(Fact,{name:"Tokens",children:[count(llm.input_tokens)," in, ",count(llm.output_tokens)," out",llm.tokens_per_s!=
null&&`, ${rate(llm.tokens_per_s)}/s`,llm.first_token_ms!=null&&`, the first after ${duration(llm.first_token_ms*1e3)}`]}),i(Fact,{name:"Cost",children:[usd(llm.
cost_usd),llm.estimated&&", estimated"]}),llm.attempts.length>0&&i(Fact,{name:"Providers",children:llm.attempts.map((one,at)=>i("div",{children:[i(Text,{children:one.
provider})," ",outcome(one.outcome)[1],one.reason&&i($,{children:[": ",i(Text,{children:one.reason})]})," ",i("small",{children:duration(one.took_ms*1e3)})]},at))})]})}
var SENTENCES={key_rate_limit:"This key has used up its rate.",api_rate_limit:"All callers together have used up this API's rate.",address_rate_limit:"The clien\
t's address has used up its rate.",quota_exceeded:"This key's quota is used up.",auth_missing:"The request has no key or token.",key_unknown:"There is no such k\
ey.",key_expired:"The key has expired.",key_inactive:"The key is inactive: somebody deactivated it.",key_signature:"The request's signature does not fit its key\
.",api_disallowed:"The key has no right to this API.",resource_disallowed:"The key has no right to this path or method.",ip_disallowed:"The client's address is \
not allowed.",endpoint_forbidden:"The API's rules do not allow this path.",basic_refused:"Name or password is wrong.",jwt_refused:"The token was not accepted.",
jwt_expired:"The token has expired.",jwt_not_yet:"The token is not valid yet: a clock may be wrong.",jwt_no_policy:"The token names no policy that exists here.",
oauth_key_unknown:"There is no such access token, or it has expired.",oauth_client_gone:"The OAuth client of this token was deleted.",store_silent:"The store of\
 keys does not answer, so keys cannot be checked.",version_missing:"The request names no version.",version_unknown:"There is no such version.",version_expired:"\
This version has expired.",request_too_large:"The request's body is larger than the API allows.",org_disabled:"The organisation is disabled.",org_quota:"The org\
anisation's quota is used up.",org_rate_limit:"The organisation has used up its rate.",upstream_connect:"The upstream could not be reached: it refuses connectio\
ns.",upstream_timeout:"The upstream did not answer in time.",upstream_failed:"The upstream broke the connection off, or its answer was malformed.",upstream_lookup:"\
The upstream's name could not be resolved.",breaker_open:"The circuit breaker is open: the upstream failed too often.",all_hosts_down:"All targets of this API a\
re down."};function sentence(entry){return SENTENCES[entry.cause]??`${entry.status>=500?"Failed":"Refused"}: ${entry.message||entry.cause.replaceAll("_"," ")}.`}var pages=null;async function fetchPages(){return pages??=await import("./later.js")}setTimeout(()=>{fetchPages().catch(()=>{})},1e3);function lazily(name){
return function(){let[failure,setFailure]=w(null),[,again]=w(0),Page=pages?.[name];return S(()=>{Page||fetchPages().then(()=>again(turn=>turn+1),setFailure)},[]),
failure?i(ErrorBox,{failure:"This page could not be loaded.",retry:()=>location.reload()}):Page?i(Page,{}):null}}var Boundary=class extends E{state={fault:null};componentDidCatch(fault){this.setState({fault}),reportError(fault)}render(){let{fault}=this.state;return fault?i(
Note,{tone:"bad",icon:"alert",actions:i(Button,{icon:"refresh",onClick:()=>location.reload(),children:"Reload"}),children:["This page failed to show what the ga\
teway sent. Traffic is not affected. ",i("small",{children:fault.message})]}):this.props.children}};var EACH=5,KINDS=[{what:"apis",icon:"api",kind:"API",show:row=>({name:row.name||row.id,note:`${row.listen_path} -> ${row.target}`,to:link(["apis",row.id])})},{what:"\
keys",icon:"key",kind:"Key",show:row=>({name:row.alias||row.id,note:[row.id,row.state!=="active"&&row.state].filter(Boolean).join(", "),to:link(["keys",row.id])})},
{what:"policies",icon:"policy",kind:"Policy",show:row=>({name:row.name||row.id,note:row.id,to:link(["policies"],{open:row.id})})},{what:"clients",icon:"client",
kind:"Client",show:row=>({name:row.id,note:row.description||row.api_id,to:link(["clients"],{q:row.id})})},{what:"certs",icon:"certificate",kind:"Certificate",show:row=>({
name:row.names?.[0]??row.subject,note:row.subject,to:link(["certificates"],{q:row.subject})})}];function Search({close}){let[text,setText]=w(""),[found,setFound]=w(
null),[at,setAt]=w(0),input=U(null);S(()=>{input.current?.focus()},[]),S(()=>{let q=text.trim();if(!q){setFound(null);return}let control=new AbortController,timer=setTimeout(
async()=>{let answers=await Promise.all(KINDS.map(async({what,icon,kind,show})=>{try{return(what==="keys"?await listKeys({q,limit:EACH},{signal:control.signal}):
await get(`list/${what}${query({q,limit:EACH})}`,{signal:control.signal})).rows.slice(0,EACH).map(row=>({icon,kind,...show(row)}))}catch{return[]}}));if(control.
signal.aborted)return;let tail=[{icon:"tail",kind:"Live tail",name:`Refusals and errors of "${q}"`,note:"by request id, path, key or address",to:link(["live"],{
q})}];setFound([...answers.flat(),...tail]),setAt(0)},150);return()=>{clearTimeout(timer),control.abort()}},[text]);let open=one=>{one&&(close(),go(one.to))};return i(
Dialog,{title:"Search",close,children:i("div",{class:"search",onKeyDown:event=>{let step=event.key==="ArrowDown"?1:event.key==="ArrowUp"?-1:0;step&&found&&(event.
preventDefault(),setAt((at+step+found.length)%found.length)),event.key==="Enter"&&(event.preventDefault(),open(found?.[at]))},children:[i("input",{ref:input,type:"\
search","aria-label":"Search",role:"combobox","aria-expanded":!!found,"aria-controls":"found","aria-activedescendant":found?`found-${at}`:void 0,placeholder:"AP\
I, path, key, alias, policy, certificate, request id",autocomplete:"off",spellcheck:!1,value:text,onInput:event=>setText(event.currentTarget.value)}),i("ul",{id:"\
found",role:"listbox","aria-label":"Results",children:found?.map((one,index)=>i("li",{id:`found-${index}`,role:"option","aria-selected":index===at,class:index===
at?"at":"",onMouseMove:()=>setAt(index),onClick:()=>open(one),children:[i(Icon,{name:one.icon}),i("span",{children:[i("bdi",{children:visible(one.name)}),i("sma\
ll",{children:i("bdi",{children:visible(one.note)})})]}),i("em",{children:one.kind})]},one.to+index))})]})})}var ApiPage=lazily("ApiPage"),Certificates=lazily("Certificates"),Clients=lazily("Clients"),KeyPage=lazily("KeyPage"),Models=lazily("Models"),PortalPlace=lazily(
"PortalPlace"),Policies=lazily("Policies"),System=lazily("System"),PLACES=[{id:"overview",name:"Overview",icon:"overview",key:"o",page:Overview},{id:"apis",name:"\
APIs",icon:"api",key:"a",page:Apis,one:ApiPage},{id:"keys",name:"Keys",icon:"key",key:"k",page:Keys,one:KeyPage},{id:"policies",name:"Policies",icon:"policy",key:"\
p",page:Policies},{id:"clients",name:"OAuth clients",icon:"client",key:"c",page:Clients},{id:"certificates",name:"Certificates",icon:"certificate",key:"e",page:Certificates,
whole:!0},{id:"usage",name:"Usage",icon:"usage",key:"u",page:Usage,whole:!0},{id:"models",name:"Models",icon:"model",key:"m",page:Models,whole:!0},{id:"portal",
name:"Portal",icon:"portal",key:"d",page:PortalPlace,whole:!0},{id:"live",name:"Live tail",icon:"tail",key:"l",page:Tail},{id:"system",name:"System",icon:"syste\
m",key:"s",page:System,whole:!0}];function Shell(){let[menu,setMenu]=w(!1),[search,setSearch]=w(!1),[help,setHelp]=w(!1),{parts}=route.value,place=PLACES.find(one=>one.
id===(parts[0]??"overview"));S(()=>{document.title=`${parts[1]?`${visible(parts[1])} - `:""}${place?.name??"Not found"} - Tollgate`,setMenu(!1)},[route.value]),
useKeys({search:()=>setSearch(!0),help:()=>setHelp(!0)});let Page=place?parts[1]&&place.one||place.page:null;return i("div",{class:`shell ${menu?"with-menu":""}`,
children:[i("a",{class:"skip",href:"#content",onClick:event=>{event.preventDefault(),document.getElementById("content")?.focus()},children:"Skip to the content"}),
i("nav",{"aria-label":"Pages",children:[i("a",{class:"brand",href:"#/",children:[i(Logo,{}),"Tollgate"]}),i("ul",{children:PLACES.filter(one=>!one.whole||!session.
value?.scope).map(one=>i("li",{children:i("a",{href:`#/${one.id==="overview"?"":one.id}`,"aria-current":place===one?"page":void 0,onClick:()=>setMenu(!1),children:[
i(Icon,{name:one.icon}),one.name]})},one.id))}),i("div",{class:"who",children:[i("span",{class:"user",title:session.value?.by_secret?"Signed in with the control\
 secret":`Role: ${session.value?.role}`,children:[i(Icon,{name:"client"}),i("span",{children:[i("bdi",{children:session.value?.by_secret?"control secret":visible(
session.value?.user)}),i("small",{children:session.value?.role})]})]}),i(Button,{icon:"out",kind:"quiet","aria-label":"Sign out",title:"Sign out",onClick:()=>{signOut()}})]})]}),
menu&&i("div",{class:"veil",onClick:()=>setMenu(!1)}),i("header",{class:"top",children:[narrow.value&&i(Button,{icon:"menu",kind:"quiet","aria-label":"Menu","ar\
ia-expanded":menu,onClick:()=>setMenu(!menu)}),i("button",{type:"button",class:"search-box","aria-label":"Search everything",onClick:()=>setSearch(!0),children:[
i(Icon,{name:"search"}),i("span",{children:"Search"}),i("kbd",{children:"/"})]}),i(Connection,{}),i(Clock,{}),i(Button,{icon:dark.value?"sun":"moon",kind:"quiet",
"aria-label":dark.value?"Light theme":"Dark theme",title:dark.value?"Light theme":"Dark theme",onClick:()=>{theme.value=dark.value?"light":"dark"}}),!narrow.value&&
i(Button,{kind:"quiet",class:"help","aria-label":"Keyboard keys",title:"Keyboard keys (?)",onClick:()=>setHelp(!0),children:"?"})]}),i("main",{id:"content",tabIndex:-1,
children:Page?i(Boundary,{children:i(Page,{})},parts.slice(0,2).join("/")):i(Empty,{icon:"alert",title:"There is no such page.",children:i(LinkButton,{href:"#/",
children:"Overview"})})}),search&&i(Search,{close:()=>setSearch(!1)}),help&&i(Help,{close:()=>setHelp(!1)})]})}function Connection(){let{kind,words,since}=state.
value,now2=now.value;if(kind==="lost")return i("span",{class:"connection bad",role:"status",title:words,children:[i("i",{}),"No answer since ",clock(since/1e3,!0)]});
if(kind==="refused")return i("span",{class:"connection warn",role:"status",title:words,children:[i("i",{}),"Figures are not updated"]});if(kind==="closed")return i(
"span",{class:"connection muted",children:visible(session.value?.node)});if(kind==="off")return i("span",{class:"connection muted",title:words,children:[i("i",{}),
"No live figures"]});let nodes=now2?.nodes.length??1,missing=now2?.missing.length??0;return i("a",{class:`connection ${missing?"warn":kind==="live"?"ok":"muted"}`,
href:"#/system",title:now2?.nodes.join(", "),children:[i("i",{}),nodes===1&&!missing?visible(now2?.node??session.value?.node):`${nodes} gateways`,missing>0&&`, ${missing}\
 silent`]})}function Clock(){let[,again]=w(0);S(()=>{let timer=setInterval(()=>again(turn=>turn+1),5e3);return()=>clearInterval(timer)},[]);let now2=Date.now()/
1e3;return i("button",{type:"button",class:"clock",title:"Switch between local time and UTC",onClick:()=>{utc.value=!utc.value},children:[i("time",{children:clock(
now2)})," ",i("small",{children:offset(now2)})]})}function useKeys(does){S(()=>{let went=0,press=event=>{if((event.ctrlKey||event.metaKey)&&event.key.toLowerCase()===
"k"){event.preventDefault(),does.search();return}if(event.ctrlKey||event.metaKey||event.altKey||document.querySelector("dialog[open]"))return;let target=event.composedPath()[0];
if(target instanceof HTMLElement&&(target.isContentEditable||/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)&&!["checkbox","radio"].includes(target.type))){event.
key==="Escape"&&target.blur();return}if(localStorage.getItem("letters")!=="off"){if(event.timeStamp-went<1500){went=0;let place=PLACES.find(one=>one.key===event.
key);if(place){event.preventDefault(),go(place.id==="overview"?"#/":link([place.id]));return}}if(event.key==="g")went=event.timeStamp;else if(event.key==="/")event.
preventDefault(),does.search();else if(event.key==="?")event.preventDefault(),does.help();else if(event.key==="e")document.querySelector("[data-key=e]")?.click();else if(event.
key==="n")document.querySelector("[data-key=n]")?.click();else if(event.key==="Escape"){let{parts}=route.peek();parts.length>1&&go(link([parts[0]]))}}};return addEventListener(
"keydown",press),()=>removeEventListener("keydown",press)},[])}var KEYS=[["/ or Ctrl-K","Search everything"],["g then o a k p c e u m d l s","Go to Overview, AP\
Is, Keys, Policies, Clients, Certificates, Usage, Models, Portal, Live tail, System"],["j, k","Next, previous row"],["Enter","Open the row"],["e","Edit"],["n","\
New"],["Esc","Close, back to the list"],["?","This list"]];function Help({close}){let[on,set]=w(localStorage.getItem("letters")!=="off");return i(Dialog,{title:"\
Keys",close,children:[i("dl",{class:"keys",children:KEYS.map(([keys,does])=>i($,{children:[i("dt",{children:i("kbd",{children:keys})}),i("dd",{children:does})]}))}),
i("label",{class:"choice",children:[i("input",{type:"checkbox",checked:on,onChange:()=>{localStorage.setItem("letters",on?"off":"on"),set(!on)}})," Single lette\
rs act"]})]})}function App(){S(()=>{load()},[]);let inside=session.value&&!ended.value;return S(()=>{if(!inside){stop(),ended.value&&load();return}start()},[inside]),inside?i(
$,{children:[i(Shell,{}),i(Toasts,{})]}):door.value||silent.value||ended.value?i(SignIn,{}):null}var root=document.getElementById("app");root&&he(i(App,{}),root);
