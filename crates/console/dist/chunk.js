var h,ee,_e,S,V,A,ne,R,te,q,G,oe,N=Symbol.for("pv"),F={},H=[],de=/^m(i|n|o|s|text|space)$/,I=Array.isArray,j=H.slice,P=Object.assign;function W(_3){_3&&_3.parentNode&&
_3.remove()}function re(_3,e2,n){var r,l2,t,i3={},u2=arguments.length;for(t in e2)t=="key"?r=e2[t]:t=="ref"&&typeof _3!="function"?l2=e2[t]:i3[t]=e2[t];return u2>
2&&(i3.children=u2>3?j.call(arguments,2):n),D(_3,i3,r,l2,null)}function D(_3,e2,n,r,l2){var t={type:_3,props:e2,key:n,ref:r,__k:null,__:null,__b:0,__e:null,__c:null,constructor:N,__v:l2||++ee,__i:-1,__u:0};return!l2&&h.vnode&&
h.vnode(t),t}function $(_3){return _3.children}function E(_3,e2){this.props=_3,this.context=e2,this.__g=0}function T(_3,e2){if(e2==null)return _3.__&&T(_3.__,_3.__i+1);for(var n;e2<
_3.__k.length;e2++)if((n=_3.__k[e2])&&n.__e)return n.__e;return typeof _3.type!="function"||_3.props.__P?null:T(_3)}function ve(_3){var e2,n=_3.__v,r=n.__e,l2=[],
t=[],i3=_3.__P;i3&&((e2=P({constructor:N},n)).__v=n.__v+1,h.vnode&&h.vnode(e2),K(i3,e2,n,_3.__n,i3.namespaceURI,32&n.__u?[r]:null,l2,r||T(n),32&n.__u,t),e2.__v=
n.__v,e2.__.__k[e2.__i]=e2,ae(l2,e2,t),n.__=n.__e=null,e2.__e!=r&&ie(e2))}function ie(_3){if((_3=_3.__)&&_3.__c&&!_3.props.__P)return _3.__e=null,_3.__k.some(function(e2){
return e2&&(_3.__e=e2.__e)}),ie(_3)}function J(_3){(8&_3.__g||(_3.__g|=8,S.push(_3),A++))&&V==h.debounceRendering||((V=h.debounceRendering)||queueMicrotask)(le)}
function le(){try{for(var _3,e2=1;S.length;)S.length>e2&&S.sort(ne),_3=S.shift(),e2=S.length,8&_3.__g&&ve(_3)}finally{(A=S.length)&&(V||queueMicrotask)(le)}}function ue(_3,e2,n,r,l2,t,i3,u2,p2,m3,s3){
var v3,d4,o2,c3,k3,a3,g4=r.__k||H,f2=e2.length;for(p2=me(n,e2,g4,p2,f2),v3=0;v3<f2;v3++)(o2=n.__k[v3])!=null&&(d4=~o2.__i&&g4[o2.__i]||F,o2.__i=v3,a3=K(_3,o2,d4,
l2,t,i3,u2,p2,m3,s3),c3=o2.__e,(d4.ref!=o2.ref||8&d4.__u)&&(d4.ref&&Q(d4.ref,null,o2,d4),o2.ref&&s3.push(o2.ref,o2.__c||c3,o2)),k3=k3||c3,4&o2.__u?(p2=se(o2,p2,
_3,!d4.__v),d4.__e&&(d4.__e=null)):typeof o2.type=="function"&&a3!==void 0?p2=a3:c3&&(p2=c3.nextSibling),o2.__u&=-21);return n.__e=k3,p2}function me(_3,e2,n,r,l2){
var t,i3,u2,p2,m3,s3,v3,d4,o2,c3=n.length,k3=c3,a3=0,g4=0,f2=_3.__k=Array(l2);for(t=0;t<l2;t++)(i3=e2[t])!=null&&typeof i3!="boolean"&&typeof i3!="function"?(typeof i3!=
"object"||i3.constructor===String?i3=f2[t]=D(null,i3):I(i3)?i3=f2[t]=D($,{children:i3}):i3.constructor===N&&i3.__b?i3=f2[t]=D(i3.type,i3.props,i3.key,i3.ref,i3.
__v):f2[t]=i3,p2=t+a3,i3.__=_3,i3.__b=_3.__b+1,u2=null,~(m3=i3.__i=ke(i3,n,p2,k3))&&(k3--,(u2=n[m3])&&(u2.__u|=2)),u2&&u2.__v?(i3.__u|=16,m3==p2-1?a3--:m3==p2+1?
a3++:m3!=p2&&(m3>p2?a3--:a3++,g4=1)):(~m3||(l2>c3?a3--:l2<c3&&a3++),typeof i3.type!="function"&&(i3.__u|=4))):f2[t]=null;if(g4){for(s3=[],v3=[],t=0;t<l2;t++)if((i3=
f2[t])&&16&i3.__u){for(a3=0,d4=s3.length;a3<d4;)s3[o2=a3+d4>>1]<i3.__i?a3=o2+1:d4=o2;s3[a3]=i3.__i,v3[t]=a3+1}for(a3=s3.length;t--;)v3[t]&&(v3[t]==a3?a3--:f2[t].
__u|=4)}if(k3)for(t=0;t<c3;t++)!(u2=n[t])||2&u2.__u||(u2.__e==r&&(r=T(u2)),X(u2,u2));return r}function se(_3,e2,n,r){var l2,t,i3,u2;if(typeof _3.type=="function"){
if(_3.props.__P)return e2;if(l2=_3.__k)for(t=0;t<l2.length;t++)l2[t]&&(l2[t].__=_3,e2=se(l2[t],e2,n,!1));return e2}for(e2&&!e2.parentNode&&(e2=T(_3))&&!e2.parentNode&&
(e2=null),i3=_3.__e,u2=e2;u2&&u2.nodeType==8;)u2=u2.nextSibling;for(i3!=u2&&(!r&&n.moveBefore&&i3.parentNode?n.moveBefore(i3,e2):n.insertBefore(i3,e2||null)),e2=
i3;(e2=e2&&e2.nextSibling)&&e2.nodeType==8&&!e2.data.startsWith("$s"););return e2}function ke(_3,e2,n,r){var l2,t=_3.key,i3=_3.type,u2=e2[n],p2=u2&&!(2&u2.__u);if(u2===null&&t==null||p2&&t==u2.key&&i3==u2.type)return n;if(r>(p2?1:0)){for(l2=n-
1;l2>=0;l2--)if((u2=e2[l2])&&!(2&u2.__u)&&t==u2.key&&i3==u2.type)return l2;for(l2=n+1;l2<e2.length;l2++)if((u2=e2[l2])&&!(2&u2.__u)&&t==u2.key&&i3==u2.type)return l2}
return-1}function fe(_3,e2,n){n==null&&(n=""),e2[0]=="-"?_3.setProperty(e2,n):_3[e2]=n}function B(_3,e2,n,r,l2){var t,i3;if(e2=="style")if(typeof n=="string")_3.
style.cssText=n;else{if(typeof r=="string"&&(_3.style.cssText=r=""),r)for(e2 in r)n&&e2 in n||fe(_3.style,e2);if(n)for(e2 in n)r&&n[e2]==r[e2]||fe(_3.style,e2,n[e2])}else if(e2[0]==
"o"&&e2[1]=="n")typeof n!="function"&&(n=null),typeof r!="function"&&(r=null),(_3.__e||(_3.__e={}))[e2]=n,n&&r||(i3=G[e2]||(G[e2]=be(e2)),(_3.__a||(_3.__a={}))[e2]=
q,t=e2!=(e2=e2.replace(te,"$1")),(e2=e2.slice(2))[0]<"a"&&(e2=e2.toLowerCase()),n?_3.addEventListener(e2,i3,t):_3.removeEventListener(e2,i3,t));else{if(l2=="htt\
p://www.w3.org/2000/svg")e2=e2.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(e2!="width"&&e2!="height"&&e2!="href"&&e2!="list"&&e2!="form"&&e2!="tabI\
ndex"&&e2!="download"&&e2!="rowSpan"&&e2!="colSpan"&&e2!="role"&&e2!="popover"&&e2 in _3)try{return void(_3[e2]=n??"")}catch{}if(typeof n=="function")return;n==
null||n===!1&&e2[4]!="-"?_3.removeAttribute(e2):_3.setAttribute(e2,e2=="popover"&&n==1?"":n)}}function be(_3){return function(e2){var n=this.__e;if(n){if(n=n[_3],
e2[R]==null)e2[R]=q++;else if(e2[R]<this.__a[_3])return;return n(h.event?h.event(e2):e2)}}}function K(_3,e2,n,r,l2,t,i3,u2,p2,m3){var s3,v3,d4,o2,c3,k3,a3,g4,f2,
b3,y4,O3,Y,L,M3,Z2,C2,U3,x3=e2.type;if(e2.constructor!==N)return null;128&n.__u&&(p2=32&n.__u,s3=n.__c.__z)&&(e2.__u|=p2,v3=t=[],s3.nodeType==8?u2=z(s3,t):t.push(
s3),u2=t[0]||u2),(s3=h.__b)&&s3(e2);e:if(typeof x3=="function"){d4=i3.length;try{if(g4=e2.props,f2=(s3=x3.prototype)&&s3.render,b3=(s3=x3.contextType)&&r[s3.__c],
y4=s3?b3?b3.props.value:s3.__:r,(o2=n.__c)?(e2.__c=o2,2&o2.__g&&(o2.__g|=1)):(f2?e2.__c=o2=new x3(g4,y4):(e2.__c=o2=new E(g4,y4),o2.constructor=x3,o2.render=xe),
b3&&b3.sub(o2),o2.state||(o2.state={}),o2.__n=r,o2.__g|=8,o2.__h=[],o2.__k=[]),f2&&(o2.__s||(o2.__s=o2.state),x3.getDerivedStateFromProps&&(o2.__s==o2.state&&(o2.
__s=P({},o2.__s)),P(o2.__s,x3.getDerivedStateFromProps(g4,o2.__s)))),c3=o2.props,k3=o2.state,o2.__v=e2,n.__c){if(g4!==c3&&f2&&!x3.getDerivedStateFromProps&&o2.componentWillReceiveProps&&
o2.componentWillReceiveProps(g4,y4),e2.__v==n.__v&&!(8&o2.__g)||!(4&o2.__g)&&o2.shouldComponentUpdate&&o2.shouldComponentUpdate(g4,o2.__s,y4)===!1){e2.__v!=n.__v&&
(o2.props=g4,o2.state=o2.__s,o2.__g&=-9),e2.__e=n.__e,e2.__k=n.__k,e2.__k.some(function(w3){w3&&(w3.__=e2)}),H.push.apply(o2.__h,o2.__k),o2.__k=[],o2.__h.length&&
i3.push(o2),u2=T(n);break e}o2.componentWillUpdate&&o2.componentWillUpdate(g4,o2.__s,y4),f2&&o2.componentDidUpdate&&o2.__h.push(function(){o2.componentDidUpdate(
c3,k3,a3)})}else f2&&!x3.getDerivedStateFromProps&&o2.componentWillMount&&o2.componentWillMount(),f2&&o2.componentDidMount&&o2.__h.push(o2.componentDidMount);o2.
context=y4,o2.props=g4,o2.__P=_3,o2.__g&=-5,O3=h.__r,Y=f2?25:0;do o2.__g&=-9,O3&&O3(e2),s3=o2.render(o2.props,o2.state=o2.__s,o2.context);while(8&o2.__g&&++Y<25);
f2&&(H.push.apply(o2.__h,o2.__k),o2.__k=[]),o2.state=o2.__s,o2.getChildContext&&(r=P({},r,o2.getChildContext())),f2&&n.__c&&o2.getSnapshotBeforeUpdate&&(a3=o2.getSnapshotBeforeUpdate(
c3,k3)),L=s3&&s3.type===$&&s3.key==null?s3.props.children:s3,g4.__P&&(s3=u2,l2=(_3=g4.__P).namespaceURI,p2=t=null,n.props&&n.props.__P!=_3&&(n.__k.some(function(w3){
w3&&X(w3,w3)}),n.__k=null),u2=n.__k?T(n,0):null),u2=ue(_3,I(L)?L:[L],e2,n,r,l2,t,i3,u2,p2,m3),g4.__P&&(e2.__e=null,u2=s3),e2.__u&=-161,v3&&v3.some(W),o2.__h.length&&
i3.push(o2),1&o2.__g&&(o2.__g&=-4)}catch(w3){if(i3.length=d4,e2.__v=null,p2||t)if(w3&&w3.then){if(e2.__u|=128|p2,t){for(~(C2=t.indexOf(u2||void 0))||(C2=t.length);(U3=
t[C2-1])&&U3.nodeType==8;)C2--;for(;C2<t.length;C2++)if(U3=t[C2])if(t[C2]=null,M3){if(U3==Z2)break}else{if(U3.nodeType!=8)break;U3.data.startsWith("$s")&&(Z2=z(
M3=U3))}}if(!M3){for(;u2&&u2.nodeType==8&&u2.nextSibling;)u2=u2.nextSibling;M3=u2}(s3=z(M3=e2.__c.__z||(e2.__c.__z=M3)))?(e2.__e=M3,u2=s3):e2.__e=u2,u2=u2&&u2.nextSibling}else
t&&t.some(W);else e2.__e=n.__e;e2.__k||(e2.__k=n.__k||[]),w3&&w3.then||pe(e2),h.__e(w3,e2,n)}}else u2=e2.__e=we(n.__e,e2,n,r,l2,t,i3,p2,m3,_3);return(s3=h.diffed)&&
s3(e2),u2}function z(_3,e2){if(_3&&_3.nodeType==8&&_3.data.startsWith("$s"))for(var n=1;_3=_3.nextSibling;){if(_3.nodeType==8){if(_3.data.startsWith("$s"))n++;else if(_3.
data.startsWith("/$s")&&!--n)return _3}e2&&e2.push(_3)}}function pe(_3){_3&&(_3.__c&&(_3.__c.__g|=4),_3.__k&&_3.__k.some(pe))}function ae(_3,e2,n){for(var r=0;r<
n.length;)Q(n[r++],n[r++],n[r++]);h.__c&&h.__c(e2,_3),_3.some(function(l2){try{_3=l2.__h,l2.__h=[],_3.some(function(t){t.call(l2)})}catch(t){h.__e(t,l2.__v)}})}
function we(_3,e2,n,r,l2,t,i3,u2,p2,m3){var s3,v3,d4,o2,c3,k3,a3,g4,f2=n.props||F,b3=e2.props,y4=e2.type;if(y4=="svg"?l2="http://www.w3.org/2000/svg":y4=="math"?
l2="http://www.w3.org/1998/Math/MathML":l2||(l2="http://www.w3.org/1999/xhtml"),t){for(s3=0;s3<t.length;s3++)if((c3=t[s3])&&(y4?c3.localName==y4:c3.nodeType==3)){
_3=c3,t[s3]=null;break}}if(!_3){if(g4=m3.ownerDocument||document,!y4)return g4.createTextNode(b3);_3=g4.createElementNS(l2,y4,b3.is?b3:m3),u2&&(h.__m&&h.__m(e2,
t),u2=!1),t=null}if(y4){if(m3=y4=="template"&&_3.content||_3,t=y4=="textarea"&&b3.defaultValue!=null?null:t&&j.call(m3.childNodes),!u2&&t)for(f2={},s3=0;s3<_3.attributes.
length;s3++)f2[(c3=_3.attributes[s3]).name]=c3.value;for(s3 in f2)c3=f2[s3],s3=="dangerouslySetInnerHTML"?d4=c3:s3=="children"||s3 in b3||s3=="value"&&"defaultV\
alue"in b3||s3=="checked"&&"defaultChecked"in b3||B(_3,s3,null,c3,l2);for(s3 in b3)c3=b3[s3],s3=="children"?o2=c3:s3=="dangerouslySetInnerHTML"?v3=c3:s3=="value"?
k3=c3:s3=="checked"?a3=c3:u2&&typeof c3!="function"||f2[s3]===c3||B(_3,s3,c3,f2[s3],l2);v3?(u2||d4&&(v3.__html==d4.__html||v3.__html==_3.innerHTML)||(_3.innerHTML=
v3.__html),e2.__k=[]):(d4&&(_3.textContent=""),(y4=="foreignObject"||l2=="http://www.w3.org/1998/Math/MathML"&&de.test(y4))&&(l2="http://www.w3.org/1999/xhtml"),
ue(m3,I(o2)?o2:[o2],e2,n,r,l2,t,i3,t?t[0]:n.__k&&T(n,0),u2,p2),t&&t.some(W)),u2&&y4!="textarea"||(s3="value",y4=="progress"&&k3==null?_3.removeAttribute(s3):k3==
null||k3===_3[s3]&&(y4!="progress"||k3)||B(_3,s3,k3,f2[s3],l2),s3="checked",a3!=null&&a3!=_3[s3]&&B(_3,s3,a3,f2[s3],l2))}else f2===b3||u2&&_3.data==b3||(_3.data=
b3);return _3}function Q(_3,e2,n,r){try{typeof _3=="function"?e2?e2.__x=_3(e2)||1:r&&(r=r.__c||r.__e)&&(e2=r.__x)&&(r.__x=null,typeof e2=="function"?e2():_3(null)):
_3.current=e2}catch(l2){h.__e(l2,n)}}function X(_3,e2,n){var r,l2,t,i3;if(h.unmount&&h.unmount(_3),!(r=_3.ref)||r.current&&r.current!=_3.__e||Q(r,null,e2,_3),r=
_3.__c){if(r.componentWillUnmount)try{r.componentWillUnmount()}catch(u2){h.__e(u2,e2)}r.__P=r.__n=null}if(r=_3.__k)for(i3=0;i3<r.length;i3++)r[i3]&&X(r[i3],e2,typeof _3.
type!="function"||n&&!_3.props.__P);!n&&(r=_3.__c)&&(r=r.__z)&&(l2=z(r,t=[]))&&(r==_3.__e&&t.some(W),W(l2),W(r)),n||W(_3.__e),_3.__e=_3.__c=_3.__=null}function xe(_3,e2,n){
return this.constructor(_3,n)}function he(_3,e2){var n,r,l2,t;h.__&&h.__(_3,e2),e2.nodeType==9&&(e2=e2.documentElement),r=(n=_3&&32&_3.__u)?null:e2.__k,e2.__k=D(
$,{children:[_3]}),l2=[],t=[],K(e2,e2.__k,r||F,F,e2.namespaceURI,r?null:e2.firstChild?j.call(e2.childNodes):null,l2,r?r.__e:e2.firstChild,n,t),ae(l2,e2.__k,t),e2.
__k.props.children=null}h={__e:function(_3,e2,n,r){for(var l2,t,i3;e2=e2.__;)if((l2=e2.__c)&&!(1&l2.__g)){l2.__g|=4;try{if((i3=(t=l2.constructor)&&t.getDerivedStateFromError)&&l2.setState(
t.getDerivedStateFromError(_3)),l2.componentDidCatch&&(l2.componentDidCatch(_3,r||{}),i3=1),i3&&8&l2.__g)return void(l2.__g|=2)}catch(u2){_3=u2}}throw A=0,_3}},
ee=0,_e=function(_3){return _3!=null&&_3.constructor===N},E.prototype.setState=function(_3,e2){var n=this.__s;n&&n!=this.state||(n=this.__s=P({},this.state)),typeof _3==
"function"&&(_3=_3(P({},n),this.props)),_3&&(P(n,_3),this.__v&&(e2&&this.__k.push(e2),J(this)))},E.prototype.forceUpdate=function(_3){this.__v&&(this.__g|=4,_3&&
this.__h.push(_3),J(this))},E.prototype.render=$,S=[],A=0,ne=function(_3,e2){return _3.__v.__b-e2.__v.__b},R=Symbol(),te=/(PointerCapture)$|Capture$/i,q=0,G={},
oe=0;var i,e,d,A2,H2=Object.is,a=0,D2=[],y=[],o=h,F2=o.__b,k=o.__r,q2=o.diffed,x=o.__c,E2=o.unmount,T2=o.__;function c(_3,t){o.__h&&o.__h(e,_3,a||t),a=0;var n=e.__H||
(e.__H={__:[],__h:[]});return _3>=n.__.length&&n.__.push({}),n.__[_3]}function w(_3){return a=1,V2(O,_3)}function V2(_3,t,n){var u2=c(i++,2);if(u2.t=_3,!u2.__c&&
(u2.__=[n?n(t):O(void 0,t),function(f2){var h2=(u2.__N||u2.__)[0],m3=u2.t(h2,f2);H2(h2,m3)||(u2.__N=[m3,u2.__[1]],u2.__c.setState({}))}],u2.__c=e,!e.__f)){e.__f=
!0;var r=e.shouldComponentUpdate;e.shouldComponentUpdate=function(f2,h2,m3){var C2=this.__H;if(!C2)return!0;var v3=!1,l2=this.props!=f2;if(C2.__.some(function(p2){
p2.__N&&(v3=!0,H2(p2.__[0],p2.__N[0])||(l2=!0))}),r){var N3=r.call(this,f2,h2,m3);return v3?N3||l2:N3}return!v3||l2}}return u2.__}function S2(_3,t){var n=c(i++,
3);!o.__s&&P2(n.__H,t)&&(n.__P=!0,n.__=_3,n.u=t,e.__H.__h.push(n))}function j2(_3,t){var n=c(i++,4);!o.__s&&P2(n.__H,t)&&(n.__P=!1,n.__=_3,n.u=t,e.__h.push(n))}
function U(_3){return a=5,b(function(){return{current:_3}},[])}function b(_3,t){var n=c(i++,7);return P2(n.__H,t)&&(n.__=_3(),n.__H=t),n.__}function Q2(){var _3;do{for(;_3=y.shift();)try{s(_3)}catch(n){o.__e(n,{__:(_3=_3.__P)&&_3.__v})}for(;_3=D2.shift();){var t=_3.__H;if(_3.__P&&t)try{t.__h.some(s),
t.__h.some(g),t.__h=[]}catch(n){t.__h=[],o.__e(n,_3.__v)}}}while(y.length)}o.__b=function(_3){e=null,F2&&F2(_3)},o.__=function(_3,t){_3&&t.__k&&t.__k.__m&&(_3.__m=
t.__k.__m),T2&&T2(_3,t)},o.__r=function(_3){k&&k(_3),i=0;var t=(e=_3.__c).__H;t&&(d==e?e.__h=[]:(t.__h.some(s),t.__h.some(g),i=0),t.__h=[],t.__.some(function(n){
n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),d=e},o.diffed=function(_3){q2&&q2(_3);var t=_3.__c;t&&t.__H&&(t.__H.__h.length&&I2(D2.push(t)),t.__H.__.some(function(n){
n.u&&(n.__H=n.u)})),d=e=null},o.__c=function(_3,t){t.some(function(n){try{n.__h.some(s),n.__h=n.__h.filter(function(u2){return!u2.__||g(u2)})}catch(u2){n.__h=[function(){
throw u2}]}}),x&&x(_3,t)},o.unmount=function(_3){E2&&E2(_3);var t,n,u2=_3.__c;u2&&u2.__H&&(u2.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){for(n=
_3.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}r.__P=n,I2(y.push(r))}else s(r)}catch(f2){t=f2}}),u2.__H=void 0,t&&o.__e(t,u2.__v))};var B2=typeof requestAnimationFrame==
"function";function W2(_3){var t,n=function(){clearTimeout(u2),B2&&cancelAnimationFrame(t),setTimeout(_3)},u2=setTimeout(n,35);B2&&(t=requestAnimationFrame(n))}
function I2(_3){_3!=1&&A2==o.requestAnimationFrame||((A2=o.requestAnimationFrame)||W2)(Q2)}function s(_3){var t=e,n=_3.__c;typeof n=="function"&&(_3.__c=void 0,
n()),e=t}function g(_3){var t=e;_3.__c=_3.__(),e=t}function P2(_3,t){return!_3||_3.length!=t.length||t.some(function(n,u2){return!H2(n,_3[u2])})}function O(_3,t){
return typeof t=="function"?t(_3):t}var W3=Symbol.for("preact-signals");function y2(){if(u>1)u--;else{var t,i3=!1;for((function(){var r=w2;for(w2=void 0;r!==void 0;){var h2=r.S;if(h2.v===r.v)for(var e2=h2.
t;e2!==void 0;e2=e2.x)e2.i===r.i&&(e2.i=h2.i);r=r.o}})();p!==void 0;){var o2=p;for(p=void 0,S3++;o2!==void 0;){var n=o2.u;if(o2.u=void 0,o2.f&=-3,!(8&o2.f)&&E3(
o2))try{o2.c()}catch(r){i3||(t=r,i3=!0)}o2=n}}if(S3=0,u--,i3)throw t}}function g2(t){if(u>0)return t();x2=++Z,u++;try{return t()}finally{y2()}}var v,f=void 0;function l(t){
var i3=f,o2=v;f=void 0,v=void 0;try{return t()}finally{f=i3,v=o2}}var p=void 0,u=0,S3=0,Z=0,x2=0,w2=void 0,b2=0;function m(t){if(f!==void 0){var i3=t.n;if(i3===
void 0||i3.t!==f)return i3={i:0,S:t,p:f.s,n:void 0,t:f,e:void 0,x:void 0,r:i3},f.s!==void 0&&(f.s.n=i3),f.s=i3,t.n=i3,32&f.f&&t.S(i3),i3;if(i3.i===-1)return i3.
i=0,i3.n!==void 0&&(i3.n.p=i3.p,i3.p!==void 0&&(i3.p.n=i3.n),i3.p=f.s,i3.n=void 0,f.s.n=i3,f.s=i3),i3}}function s2(t,i3){this.v=t,this.i=0,this.n=void 0,this.t=
void 0,this.l=0,this.W=i3?.watched,this.Z=i3?.unwatched,this.name=i3?.name}s2.prototype.brand=W3,s2.prototype.h=function(){return!0},s2.prototype.S=function(t){
var i3=this,o2=this.t;o2!==t&&t.e===void 0&&(t.x=o2,this.t=t,o2!==void 0?o2.e=t:l(function(){var n;(n=i3.W)==null||n.call(i3)}))},s2.prototype.U=function(t){var i3=this;
if(this.t!==void 0){var o2=t.e,n=t.x;o2!==void 0&&(o2.x=n,t.e=void 0),n!==void 0&&(n.e=o2,t.x=void 0),t===this.t&&(this.t=n,n===void 0&&l(function(){var r;(r=i3.
Z)==null||r.call(i3)}))}},s2.prototype.subscribe=function(t){var i3=this;return k2(function(){var o2=i3.value;l(function(){return t(o2)})},{name:"sub"})},s2.prototype.
valueOf=function(){return this.value},s2.prototype.toString=function(){return this.value+""},s2.prototype.toJSON=function(){return this.value},s2.prototype.peek=
function(){var t=this;return l(function(){return t.value})},Object.defineProperty(s2.prototype,"value",{get:function(){var t=m(this);return t!==void 0&&(t.i=this.
i),this.v},set:function(t){if(t!==this.v){if(S3>100)throw new Error("Cycle detected");(function(o2){u!==0&&S3===0&&o2.l!==x2&&(o2.l=x2,w2={S:o2,v:o2.v,i:o2.i,o:w2})})(
this),this.v=t,this.i++,b2++,u++;try{for(var i3=this.t;i3!==void 0;i3=i3.x)i3.t.N()}finally{y2()}}}});function D3(t,i3){return new s2(t,i3)}function E3(t){for(var i3=t.
s;i3!==void 0;i3=i3.n)if(i3.S.i!==i3.i||!i3.S.h()||i3.S.i!==i3.i)return!0;return!1}function U2(t){for(var i3=t.s;i3!==void 0;i3=i3.n){var o2=i3.S.n;if(o2!==void 0&&
(i3.r=o2),i3.S.n=i3,i3.i=-1,i3.n===void 0){t.s=i3;break}}}function C(t){for(var i3=t.s,o2=void 0;i3!==void 0;){var n=i3.p;i3.i===-1?(i3.S.U(i3),n!==void 0&&(n.n=
i3.n),i3.n!==void 0&&(i3.n.p=n)):o2=i3,i3.S.n=i3.r,i3.r!==void 0&&(i3.r=void 0),i3=n}t.s=o2}function a2(t,i3){s2.call(this,void 0,i3),this.x=t,this.s=void 0,this.
g=b2-1,this.f=4}a2.prototype=new s2,a2.prototype.h=function(){if(this.f&=-3,1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===b2))return!0;if(this.g=b2,
this.f|=1,this.i>0&&!E3(this))return this.f&=-2,!0;var t=f;try{U2(this),f=this;var i3=this.x();(16&this.f||this.v!==i3||this.i===0)&&(this.v=i3,this.f&=-17,this.
i++)}catch(o2){this.v=o2,this.f|=16,this.i++}return f=t,C(this),this.f&=-2,!0},a2.prototype.S=function(t){if(this.t===void 0){this.f|=36;for(var i3=this.s;i3!==
void 0;i3=i3.n)i3.S.S(i3)}s2.prototype.S.call(this,t)},a2.prototype.U=function(t){if(this.t!==void 0&&(s2.prototype.U.call(this,t),this.t===void 0)){this.f&=-33;
for(var i3=this.s;i3!==void 0;i3=i3.n)i3.S.U(i3)}},a2.prototype.N=function(){if(!(2&this.f)){this.f|=6;for(var t=this.t;t!==void 0;t=t.x)t.t.N()}},Object.defineProperty(
a2.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var t=m(this);if(this.h(),t!==void 0&&(t.i=this.i),16&this.f)throw this.v;return this.
v}});function J2(t,i3){return new a2(t,i3)}function N2(t){var i3=t.j;if(t.j=void 0,typeof i3=="function"){u++;var o2=f;f=void 0;try{i3()}catch(n){throw t.f&=-2,
t.f|=8,j3(t),n}finally{f=o2,y2()}}}function j3(t){for(var i3=t.s;i3!==void 0;i3=i3.n)i3.S.U(i3);t.x=void 0,t.s=void 0,N2(t)}function M(t){if(f!==this)throw new Error(
"Out-of-order effect");C(this),f=t,this.f&=-2;try{8&this.f&&j3(this)}finally{y2()}}function d2(t,i3){this.x=t,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,
this.name=i3?.name,v&&v.push(this)}d2.prototype.c=function(){var t=this.S();try{if(8&this.f||this.x===void 0)return;var i3=this.x();typeof i3=="function"&&(this.
j=i3)}finally{t()}},d2.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=1,this.f&=-9,N2(this),U2(this),u++;var t=f;return f=this,M.bind(
this,t)},d2.prototype.N=function(){2&this.f||(this.f|=2,this.u=p,p=this)},d2.prototype.d=function(){this.f|=8,1&this.f||j3(this)},d2.prototype.dispose=function(){
this.d()};function k2(t,i3){var o2=new d2(t,i3);try{o2.c()}catch(r){throw o2.d(),r}var n=o2.d.bind(o2);return n[Symbol.dispose]=n,n}var g3,c2,y3,V3=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var q3=[];k2(function(){g3=this.N})();function v2(i3,e2){h[i3]=e2.bind(null,h[i3]||function(){})}function d3(i3){if(y3){var e2=y3;y3=void 0,e2()}y3=i3&&i3.S()}function E4(i3){
var e2=this,n=i3.data,t=F3(n);t.name="ReactiveDom",t.value=n;var o2=b(function(){for(var a3=e2,_3=e2.__v;_3=_3.__;)if(_3.__c){_3.__c.__$f|=4;break}var f2=J2(function(){
var l2=t.value.value;return l2===0?0:l2===!0?"":l2||""}),s3=J2(function(){return!Array.isArray(f2.value)&&!_e(f2.value)}),R2=k2(function(){if(this.N=M2,s3.value){
var l2=f2.value;a3.__v&&a3.__v.__e&&a3.__v.__e.nodeType===3&&(a3.__v.__e.data=l2)}}),U3=e2.__$u.d;return e2.__$u.d=function(){R2(),U3.call(this)},[s3,f2]},[]),r=o2[0],
u2=o2[1];return r.value?u2.peek():u2.value}E4.displayName="ReactiveTextNode",Object.defineProperties(s2.prototype,{constructor:{configurable:!0,value:re($,null).
constructor},type:{configurable:!0,value:E4},props:{configurable:!0,get:function(){var i3=this;return{data:{get value(){return i3.value}}}}},__b:{configurable:!0,
value:1}}),v2("__b",function(i3,e2){if(d3(),c2=void 0,typeof e2.type=="string"){var n,t=e2.props;for(var o2 in t)if(o2!=="children"){var r=t[o2];r instanceof s2&&
(n||(e2.__np=n={}),n[o2]=r,t[o2]=r.peek())}}i3(e2)}),v2("__r",function(i3,e2){if(i3(e2),e2.type!==$){d3();var n,t=e2.__c;t&&(t.__$f&=-2,(n=t.__$u)===void 0&&(t.
__$u=n=(function(o2,r){var u2;return k2(function(){u2=this},{name:r}),u2.c=o2,u2})((function(o2){return function(){var r;V3&&((r=this.y)==null||r.call(this)),o2.
__$f|=1,o2.setState({})}})(t),typeof e2.type=="function"?e2.type.displayName||e2.type.name:""))),c2=t,d3(n)}}),v2("__e",function(i3,e2,n,t){d3(),c2=void 0,i3(e2,
n,t)}),v2("diffed",function(i3,e2){d3(),c2=void 0;var n;if(typeof e2.type=="string"&&(n=e2.__e)){var t=e2.__np,o2=e2.props,r=n.U;if(r)for(var u2 in r){var a3=r[u2];
a3===void 0||t&&u2 in t||(a3.d(),r[u2]=void 0)}if(t){r||(r={},n.U=r);for(var _3 in t){var f2=r[_3],s3=t[_3];f2===void 0?(f2=D4(n,_3,s3,o2),r[_3]=f2):f2.o(s3,o2)}}}
i3(e2)});function D4(i3,e2,n,t){var o2=e2 in i3&&i3.ownerSVGElement===void 0,r=D3(n);return{o:function(u2,a3){r.value=u2,t=a3},d:k2(function(){this.N=M2;var u2=r.
value.value;t[e2]!==u2&&(t[e2]=u2,o2?i3[e2]=u2:u2!=null&&(u2!==!1||e2[4]==="-")?i3.setAttribute(e2,u2):i3.removeAttribute(e2))})}}v2("unmount",function(i3,e2){if(typeof e2.
type=="string"){var n=e2.__e;if(n){var t=n.U;if(t){n.U=void 0;for(var o2 in t){var r=t[o2];r&&r.d()}}}var u2=e2.__np;if(u2){var a3=e2.props;for(var _3 in u2)a3[_3]=
u2[_3]}e2.__np=void 0}else{var f2=e2.__c;if(f2){f2.__$f|=8;var s3=f2.__$u;s3&&(f2.__$u=void 0,s3.d())}}i3(e2)}),v2("__h",function(i3,e2,n,t){t<3&&(e2.__$f|=2),i3(
e2,n,t)}),E.prototype.shouldComponentUpdate=function(i3,e2){if(this.__R)return!0;var n=this.__$u,t=n&&n.s!==void 0;for(var o2 in e2)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var r=2&this.__$f;if(!(t||r||4&this.__$f)||1&this.__$f)return!0}else if(!(t||4&this.__$f)||3&this.__$f)return!0;for(var u2 in i3)if(u2!==
"__source"&&i3[u2]!==this.props[u2])return!0;for(var a3 in this.props)if(!(a3 in i3))return!0;return!1};function F3(i3,e2){return b(function(){return D3(i3,e2)},
[])}var P3=function(i3){queueMicrotask(function(){queueMicrotask(i3)})};function z2(){g2(function(){for(var i3;i3=q3.shift();)g3.call(i3)})}function M2(){q3.push(this)===1&&(h.requestAnimationFrame||P3)(z2)}var own={header:"X-Tollgate-Console"},ended=D3(!1),Failure=class extends Error{constructor(status,message,body={},text=""){super(message);this.status=status;this.
body=body;this.text=text}status;body;text;get kind(){return this.body?.cause??""}get problems(){return this.body?.problems??[]}};async function ask(method,path,body,options={}){
let headers={[own.header]:"1",...options.headers};options.byItself&&(headers["X-Tollgate-Idle"]="1");let content;body!==void 0&&(headers["Content-Type"]??="appl\
ication/json",content=typeof body=="string"?body:JSON.stringify(body));let response;try{response=await fetch(`api/${path}`,{method,headers,body:content,signal:options.
signal,credentials:"same-origin",cache:"no-store"})}catch(error){throw options.signal?.aborted?error:new Failure(0,"The gateway does not answer. It may be resta\
rting, or the connection is down.")}let text=await response.text(),value=text;try{value=JSON.parse(text)}catch{}if(response.ok)return{value,etag:response.headers.
get("etag"),text};let failure=new Failure(response.status,words(response.status,value),value,text);throw failure.kind==="signed_out"&&path!=="session"&&(ended.value=
!0),failure}async function call(method,path,body,options){return(await ask(method,path,body,options)).value}var get=(path,options)=>call("GET",path,void 0,options);
function words(status,value){if(typeof value=="object"&&value){let said2=value.message??value.error;if(typeof said2=="string"&&said2)return said2}return typeof value==
"string"&&value.trim()&&value.length<200?value.trim():`The gateway answered with status ${status}.`}var NO_KEY_MAX=24;function mayBeKey(text){return text.length>
NO_KEY_MAX&&!/\s/.test(text)&&!/^[0-9a-f]{64}$/.test(text)}async function listKeys(members,options={}){let q4=String(members.q??"");if(!mayBeKey(q4))return get(
`list/keys${query(members)}`,options);try{return await call("POST","list/keys",members,options)}catch(failure){throw failure instanceof Failure&&failure.status===
405?new Failure(405,"A whole key cannot be searched here. Search for its alias, its policy or the beginning of its id."):failure}}function query(members){let pairs=Object.
entries(members).filter(([,value])=>value!=null&&value!=="");return pairs.length?`?${new URLSearchParams(pairs.map(([name,value])=>[name,String(value)]))}`:""}var segment=text=>encodeURIComponent(
text);var session=D3(null),door=D3(null),silent=D3(null),RANK={viewer:0,editor:1,admin:2},may=role=>RANK[session.value?.role??"viewer"]>=RANK[role],isScoped=()=>!!session.
value?.scope,reread=async()=>{isScoped()||await get("reload?block=true")},scopeText=scope=>[...scope?.tags??[],...(scope?.orgs??[]).map(org=>`organisation ${org}`)].
join(", ")||"everything";async function load(){try{enter(await get("session"))}catch(failure){session.value=null,failure instanceof Failure&&failure.status===401?
door.value=failure.body:silent.value=failure.message}}function enter(found){silent.value=null,ended.value=!1,session.value=found}async function signIn(body){enter(
await call("POST","session",body))}async function signOut(){let place=null;try{place=(await call("DELETE","session")).go_to}finally{place?location.assign(place):
location.reload()}}var COUNTS=new Set(["requests","ok","client_errors","server_errors","refused","upstream_errors","timeouts","request_bytes","response_bytes"]),COLUMNS=[...COUNTS,
"in_flight","upstream_p50_us","upstream_p90_us","upstream_p99_us","gateway_p50_us","gateway_p90_us","gateway_p99_us"],REFUSED_RETRY_MS=1e4,SPAN_S=3600,APIS_MAX=50,
SERIES_MAX=200,now=D3(null),totals=D3(empty("")),apis=new Map,marks=D3([]),unrouted=D3(null),refusals=D3({}),REFUSALS_S=30,counted=[],tick=D3(0),state=D3({kind:"\
starting",words:"",since:Date.now()}),ends=D3({upstream:3e7,gateway:2e6}),tailFilters=D3(null),tailListeners=new Set,changeListeners=new Set;function onTail(listener){
return tailListeners.add(listener),()=>tailListeners.delete(listener)}function empty(name){return{name,times:[],columns:Object.fromEntries(COLUMNS.map(column=>[column,[]]))}}var source=null,retry,together=!1,gateways=D3(1);async function start(){
if(stop(),!document.hidden){if(session.value?.scope){state.value={kind:"closed",words:"",since:Date.now()},tailFilters.value?.api&&follow();return}try{let past=await get(
`history${query({apis:APIS_MAX,nodes:"all"})}`,{byItself:!0});gateways.value=past.nodes.length+past.missing.length,together=gateways.value>1,read(past)}catch(failure){
if(!(failure instanceof Failure)||ended.value)return;if(failure.status===404||failure.status===400){state.value={kind:"off",words:failure.body?.message??"This g\
ateway keeps no live figures.",since:Date.now()};return}lost(failure.message);return}follow()}}function stop(){clearTimeout(retry),source?.close(),source=null}function follow(){
let filters=tailFilters.value,topics=session.value?.scope?"tail":filters?"live,tail,changes":"live,changes",opened=!1;source=new EventSource(`api/stream${query(
{topics,nodes:together?"all":void 0,idle:1,...filters})}`),source.onopen=()=>{opened=!0},source.addEventListener("live",event=>sample(JSON.parse(event.data))),source.
addEventListener("tail",event=>{let data2=JSON.parse(event.data);tailListeners.forEach(listener=>listener(data2))}),source.addEventListener("changes",event=>{let data2=JSON.
parse(event.data);["restart","config","config_failed"].includes(data2.kind)&&(marks.value=[...marks.value,data2]),["node_joined","node_left"].includes(data2.kind)&&
start(),changeListeners.forEach(listener=>listener(data2))}),source.onerror=()=>{stop(),opened?lost("The gateway does not answer."):refused()}}async function refused(){
try{await get(`stream${query({topics:"changes",events:0,nodes:together?"all":void 0})}`,{byItself:!0}),retry=setTimeout(()=>{start()},REFUSED_RETRY_MS)}catch(failure){
if(!(failure instanceof Failure)||failure.status===0){lost("The gateway does not answer.");return}if(ended.value)return;if(failure.status===400&&together){together=
!1,follow();return}state.value={kind:"refused",words:failure.message,since:Date.now()},retry=setTimeout(()=>{start()},REFUSED_RETRY_MS)}}function lost(words2){state.
value.kind!=="lost"&&(state.value={kind:"lost",words:words2,since:Date.now()}),clearTimeout(retry),retry=setTimeout(()=>{get("session",{byItself:!0}).then(start,
failure=>{failure.kind==="signed_out"?ended.value=!0:lost(failure.message)})},2e3)}function read(past){ends.value={upstream:past.upstream_bounds_us?.at(-1)??3e7,
gateway:past.gateway_bounds_us?.at(-1)??2e6},totals.value=converted(past,"",past.totals),apis.clear();for(let api of past.apis??[])apis.set(api.api_id,converted(
past,api.name,api));marks.value=past.marks??[],tick.value+=1}function adopt(past){let[api]=past.apis??[];!api||apis.has(api.api_id)||apis.size>=SERIES_MAX||(apis.
set(api.api_id,converted(past,api.name,api)),tick.value+=1)}function converted({from_unix_s:from,step_s:step2,samples},name,columns){let times=Array.from({length:samples},
(_3,at)=>from+(at+1)*step2);return{name,times,columns:Object.fromEntries(COLUMNS.map(column=>[column,(columns[column]??times.map(()=>null)).map(value=>value==null?
null:COUNTS.has(column)?value/step2:value)]))}}function sample(data2){let before=now.value;before&&before.node===data2.node&&before.nodes.length===data2.nodes.length&&
(unrouted.value=Object.fromEntries(Object.entries(data2.unrouted).map(([what,count2])=>[what,Math.max(0,count2-(before.unrouted[what]??0))/data2.seconds]))),now.
value=data2;let time=data2.unix_ms/1e3;counted=[...counted.filter(({at})=>at>time-REFUSALS_S&&at<time),{at:time,seconds:data2.seconds,causes:data2.totals.refusals??
{}}];let lasted=counted.reduce((sum,{seconds})=>sum+seconds,0),sums={};for(let{causes}of counted)for(let[cause,number]of Object.entries(causes))sums[cause]=(sums[cause]??
0)+number/lasted;refusals.value=sums;let grown=totals.value;append(grown,time,data2.seconds,data2.totals),totals.value={...grown};let named2=new Set;for(let api of data2.
apis){named2.add(api.api_id);let series=apis.get(api.api_id);if(!series){if(apis.size>=SERIES_MAX)continue;apis.set(api.api_id,series=empty(api.name))}append(series,
time,data2.seconds,api)}let quiet=data2.apis.length<APIS_MAX?0:null;for(let[id,series]of apis)named2.has(id)||append(series,time,data2.seconds,null,quiet);state.
value={kind:"live",words:"",since:Date.now()},tick.value+=1}function append(series,time,seconds,from,absent=null){series.times.push(time);for(let column of COLUMNS){
let value=from?from[column]??null:COUNTS.has(column)||column==="in_flight"?absent:null;series.columns[column].push(value==null?null:COUNTS.has(column)?value/seconds:
value)}let old=0;for(;old<series.times.length&&series.times[old]<time-SPAN_S;)old+=1;if(old>60){series.times.splice(0,old);for(let column of COLUMNS)series.columns[column].
splice(0,old)}}document.addEventListener("visibilitychange",()=>{document.hidden?stop():!ended.value&&state.value.kind!=="starting"&&start()});tailFilters.subscribe(
()=>{session.value?.scope?start():source&&(stop(),follow())});function latest(series,column,seconds=10){if(!series)return null;let values=series.columns[column],
last3=series.times.at(-1)??0,sum=0,number=0;for(let at=values.length-1;at>=0&&series.times[at]>last3-seconds;at-=1){let value=values[at];value!=null&&(sum+=value,
number+=1)}return number?sum/number:null}function highest(series,column,seconds=60){if(!series)return null;let values=series.columns[column],last3=series.times.
at(-1)??0,found=null;for(let at=values.length-1;at>=0&&series.times[at]>last3-seconds;at-=1){let value=values[at];value!=null&&(found==null||value>found)&&(found=
value)}return found}function lastSeen(series,column="requests"){if(!series)return null;let values=series.columns[column];for(let at=values.length-1;at>=0;at-=1)
if((values[at]??0)>0)return series.times[at];return null}var _2=Symbol.for("pv"),m2=0;function i2(t,e2,n,o2,r,f2){e2||(e2={});var a3,l2,u2=e2;if("ref"in u2&&typeof t!="function")for(l2 in u2={},e2)l2=="ref"?a3=e2[l2]:u2[l2]=e2[l2];var s3={type:t,
props:u2,key:n,ref:a3,__k:null,__:null,__b:0,__e:null,__c:null,constructor:_2,__v:--m2,__i:-1,__u:0};return(r||f2)&&(s3.__source=r,s3.__self=f2),h.vnode&&h.vnode(
s3),s3}var PATHS={overview:"M2 9l3-4 3 3 3-5 3 4M2 13.5h12",api:"M2 4.5h12M2 8h12M2 11.5h12M5 3v3M10 6.5v3M7 10v3",key:"M10.5 2a3.5 3.5 0 1 1-2.6 5.9L2.5 13.3h2.7v-2h2\
v-2M11 5.4v.1",policy:"M8 1.7l5.2 2v4.1c0 3.2-2.2 5.4-5.2 6.5-3-1.1-5.2-3.3-5.2-6.5v-4.1zM5.8 8l1.6 1.6 2.9-3.1",client:"M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 \
8 8zM2.8 14c.4-2.6 2.4-4 5.2-4s4.8 1.4 5.2 4",certificate:"M3 2.5h10v7H3zM5 5h6M5 7h3M10.5 9.5v4.5l-1.5-1-1.5 1V9.5",usage:"M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-6\
M13.5 13.5v-11",model:"M8 1.8l1.5 4.7 4.7 1.5-4.7 1.5-1.5 4.7-1.5-4.7-4.7-1.5 4.7-1.5zM12.8 1.8v2.4M11.6 3h2.4",portal:"M2 3h12v10H2zM2 6h12M4 4.5h.1M5.8 9.5h4.\
4M8 8v3",tail:"M2 3.5h8M2 7h12M2 10.5h9M2 14h5",system:"M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.8h.1M5 11.3h.1M8 4.8h3M8 11.3h3",search:"M7 12A5 5 0 1 0 7 2a\
5 5 0 0 0 0 10zM10.6 10.6L14 14",close:"M3.5 3.5l9 9M12.5 3.5l-9 9",menu:"M2 4h12M2 8h12M2 12h12",plus:"M8 3v10M3 8h10",sun:"M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8\
 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.900.9M11.7 11.7l.900.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",moon:"M13 9.7A5.6 5.6 0 0 1 6.3 3a5.6 5.6\
 0 1 0 6.7 6.7z",alert:"M8 2L1.8 13.2h12.4zM8 6.2v3.3M8 11.4v.1",ok:"M3 8.5l3.2 3.2L13 4.8",info:"M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3v3.7M8 5v.1",right:"M\
6 3.5L10.5 8 6 12.5",down:"M3.5 6L8 10.5 12.5 6",up:"M3.5 10L8 5.5 12.5 10",copy:"M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",edit:"M10.5 2.8l2.7 2.7L6 12.7l-3.300.600\
.6-3.3z",play:"M4.5 2.8l8.5 5.2-8.5 5.2z",pause:"M5 3v10M11 3v10",trash:"M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9",clock:"M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12\
zM8 4.8V8l2.3 1.5",undo:"M6 3L2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7",redo:"M10 3l3.5 3.5L10 10M13.5 6.5H6a3.5 3.5 0 0 0 0 7h3",out:"M6.5 2.5h-4v11h4M10 5l\
3 3-3 3M13 8H6",table:"M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.8h11M6.5 3v10",download:"M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11",more:"M3 8h.1M8 8h.1M13 8h.1",refresh:"\
M13 8a5 5 0 1 1-1.5-3.6L13.5 6M13.5 2.5V6H10"};function Icon({name}){return i2("svg",{class:"icon",viewBox:"0 0 16 16","aria-hidden":"true",focusable:"false",children:i2(
"path",{d:PATHS[name]})})}function Logo(){return i2("svg",{class:"logo",viewBox:"0 0 16 16","aria-hidden":"true",children:[i2("rect",{width:"16",height:"16",rx:"\
3"}),i2("path",{d:"M3.5 12.5V6.5M12.5 12.5V6.5M2.5 6h11M8 6v2.5"})]})}var SHOWN_MAX=4,SHOWN_MS=6e3,said=D3([]),last=0;function say(tone,words2){let id=++last;said.value=[...said.value,{id,tone,words:words2}].slice(-SHOWN_MAX),tone===
"ok"&&setTimeout(()=>drop(id),SHOWN_MS)}function drop(id){said.value=said.value.filter(one=>one.id!==id)}function Toasts(){return i2("div",{class:"toasts","aria\
-live":"polite",children:said.value.map(one=>i2("div",{class:`toast ${one.tone}`,children:[i2(Icon,{name:one.tone==="ok"?"ok":"alert"}),i2("div",{children:one.words}),
i2("button",{type:"button","aria-label":"Dismiss",onClick:()=>drop(one.id),children:i2(Icon,{name:"close"})})]},one.id))})}var phone=matchMedia("(max-width: 719px)"),narrow=D3(phone.matches);phone.addEventListener("change",()=>{narrow.value=phone.matches});var night=matchMedia("(pre\
fers-color-scheme: dark)"),theme=D3(localStorage.getItem("theme")??"system"),dark=D3(night.matches),update=()=>{dark.value=theme.value==="dark"||theme.value==="\
system"&&night.matches};night.addEventListener("change",update);k2(()=>{localStorage.setItem("theme",theme.value),update(),document.documentElement.dataset.theme=
dark.value?"dark":"light"});var UNKNOWN="-",utc=D3(localStorage.getItem("utc")==="yes");utc.subscribe(yes=>localStorage.setItem("utc",yes?"yes":"no"));var grouped=new Intl.NumberFormat("en\
-US",{maximumFractionDigits:0});function count(value){return value==null?UNKNOWN:grouped.format(value)}function rate(value){return value==null?UNKNOWN:value===0?
"0":value<.01?"<0.01":value<1?value.toFixed(2):value<10?value.toFixed(1):grouped.format(value)}function percent(value){return value==null?UNKNOWN:value===0?"0 %":
value<.001?"<0.1 %":`${value<.1?(value*100).toFixed(1):Math.round(value*100)} %`}function duration(us2){return us2==null?UNKNOWN:us2===0?"0":us2<1?`${Math.round(
us2*1e3)} ns`:us2<1e3?`${digits(us2)} us`:us2<1e6?`${digits(us2/1e3)} ms`:us2<6e7?`${digits(us2/1e6)} s`:span(us2/1e6)}function percentile(us2,end){if(us2==null)
return UNKNOWN;if(us2>=end)return`> ${duration(end)}`;let two2=us2<=0?0:Number(us2.toPrecision(2));return`~${duration(two2)}`}function digits(value){return value>=
99.5?grouped.format(value):String(Number(value.toPrecision((value>=9.95,2))))}function bytes(value){if(value==null)return UNKNOWN;let units=["B","KiB","MiB","Gi\
B","TiB"],at=0,rest=value;for(;rest>=1024&&at<units.length-1;)rest/=1024,at+=1;return`${at&&rest<10?rest.toFixed(1):Math.round(rest)} ${units[at]}`}function span(seconds){
let whole=Math.max(0,Math.round(seconds)),parts2=[[Math.floor(whole/86400),"d"],[Math.floor(whole/3600)%24,"h"],[Math.floor(whole/60)%60,"min"],[whole%60,"s"]],
first=parts2.findIndex(([amount])=>amount>0);return first<0?"0 s":parts2.slice(first,first+(first===0&&parts2[0][0]>9?1:2)).filter(([amount])=>amount>0).map(([amount,
unit])=>`${amount} ${unit}`).join(" ")}var two=value=>String(value).padStart(2,"0");function parts(unixS){let date2=new Date(unixS*1e3);return utc.value?{y:date2.
getUTCFullYear(),mo:date2.getUTCMonth()+1,d:date2.getUTCDate(),h:date2.getUTCHours(),mi:date2.getUTCMinutes(),s:date2.getUTCSeconds()}:{y:date2.getFullYear(),mo:date2.
getMonth()+1,d:date2.getDate(),h:date2.getHours(),mi:date2.getMinutes(),s:date2.getSeconds()}}function offset(unixS=Date.now()/1e3){if(utc.value)return"UTC";let minutes=-new Date(
unixS*1e3).getTimezoneOffset();return`${minutes<0?"-":"+"}${two(Math.floor(Math.abs(minutes)/60))}:${two(Math.abs(minutes)%60)}`}function clock(unixS,seconds=!1){
if(unixS==null||!Number.isFinite(unixS))return UNKNOWN;let{h:h2,mi:mi2,s:s3}=parts(unixS);return`${two(h2)}:${two(mi2)}${seconds?`:${two(s3)}`:""}`}function date(unixS){
if(unixS==null||!Number.isFinite(unixS))return UNKNOWN;let{y:y4,mo:mo2,d:d4}=parts(unixS);return`${y4}-${two(mo2)}-${two(d4)}`}function moment(unixS,seconds=!1){
return unixS==null?UNKNOWN:date(Date.now()/1e3)===date(unixS)?clock(unixS,!0):`${date(unixS)} ${clock(unixS,seconds)}`}function full(unixS){return unixS==null||
!Number.isFinite(unixS)?UNKNOWN:`${date(unixS)} ${clock(unixS,!0)} ${offset(unixS)}`}function ago(unixS){if(unixS==null)return UNKNOWN;let seconds=Date.now()/1e3-
unixS;if(Math.abs(seconds)<1)return"now";let text=span(Math.abs(seconds)).split(" ").slice(0,2).join(" ");return seconds<0?`in ${text}`:`${text} ago`}function visible(text){
return String(text??"").replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,character=>`⟨${character.
charCodeAt(0).toString(16).padStart(2,"0").toUpperCase()}⟩`)}function cell(value){let text=String(value??""),defused=typeof value!="number"&&/^[=+\-@\t\r]/.test(
text)?`'${text}`:text;return/[",\n\r]/.test(defused)||defused!==text?`"${defused.replaceAll('"','""')}"`:defused}function shell(text){return`'${text.replaceAll(
"'","'\\''")}'`}function Badge({tone,children,title}){return i2("span",{class:`badge ${tone}`,title,children})}function Button({icon,children,kind="plain",...rest}){return i2("\
button",{type:"button",...rest,class:`button ${kind} ${children?"":"square"} ${rest.class??""}`,children:[icon&&i2(Icon,{name:icon}),children]})}function LinkButton({
icon,children,kind="plain",...rest}){return i2("a",{...rest,class:`button ${kind} ${rest.class??""}`,children:[icon&&i2(Icon,{name:icon}),children]})}function Panel({
title,note,actions,children,class:classes="",id}){return i2("section",{class:`panel ${classes}`,id,children:[title&&i2("header",{children:[i2("h2",{children:[title,
note&&i2("small",{children:note})]}),actions&&i2("div",{class:"actions",children:actions})]}),children]})}function Ago({at}){let[,again]=w(0);return S2(()=>{let timer=setInterval(
()=>again(turn=>turn+1),1e4);return()=>clearInterval(timer)},[]),at?i2("time",{title:full(at),children:ago(at)}):i2($,{children:UNKNOWN})}function Text({children,
mono}){let text=visible(children);return i2("bdi",{class:mono?"mono":void 0,children:text})}async function copy(text,what="Copied"){try{await navigator.clipboard.
writeText(text),say("ok",`${what}.`)}catch{say("bad","The browser does not allow copying here. Select the text and copy it by hand.")}}function Copy({text,label="\
Copy"}){return i2(Button,{icon:"copy",kind:"quiet","aria-label":label,title:label,onClick:()=>{copy(text)}})}function Empty({icon="info",title,children}){return i2(
"div",{class:"empty",children:[i2(Icon,{name:icon}),i2("strong",{children:title}),children&&i2("div",{children})]})}function ErrorBox({failure,retry:retry2,since}){
let words2=failure instanceof Error?failure.message:String(failure),role=failure instanceof Failure&&failure.kind==="role";return i2("div",{class:`note ${role?"\
warn":"bad"}`,role:"alert",children:[i2(Icon,{name:"alert"}),i2("div",{children:[i2(Text,{children:words2}),since&&i2($,{children:[" Shown is the state of ",i2(
Ago,{at:since}),"."]})]}),retry2&&i2(Button,{icon:"refresh",onClick:retry2,children:"Retry"})]})}function Note({tone="muted",icon="info",children,actions}){return i2(
"div",{class:`note ${tone}`,children:[i2(Icon,{name:icon}),i2("div",{children}),actions]})}function Meter({used,max,label}){let share=max>0?Math.min(1,Math.max(
0,used/max)):0,tone=share>=1?"bad":share>=.8?"warn":"ok";return i2("span",{class:"meter",title:label,children:[i2("span",{class:`bar ${tone}`,"aria-hidden":"tru\
e",children:i2("span",{style:{width:`${share*100}%`}})}),i2("span",{children:[count(used)," of ",count(max)," used"]})]})}function Field({label,hint,error,children,
wide}){return i2("label",{class:`field ${wide?"wide":""} ${error?"invalid":""}`,children:[i2("span",{children:label}),children,error?i2("em",{class:"bad",role:"\
alert",children:error}):hint?i2("em",{children:hint}):null]})}function Facts({children}){return i2("dl",{class:"facts",children})}function Fact({name,children}){
return i2($,{children:[i2("dt",{children:name}),i2("dd",{children})]})}function Waiting({on:on2}){return on2?i2("div",{class:"waiting",role:"progressbar","aria-\
label":"Loading"}):null}function parse(){let[path="",rest=""]=location.hash.replace(/^#\/?/,"").split("?",2);return{parts:path.split("/").filter(Boolean).map(part=>{try{return decodeURIComponent(
part)}catch{return part}}),query:new URLSearchParams(rest)}}var route=D3(parse()),guard=D3(null),shown=location.hash;addEventListener("hashchange",()=>{if(location.
hash!==shown){if(guard.value&&!guard.value()){history.replaceState(null,"",shown||"#/");return}guard.value=null,shown=location.hash,route.value=parse(),scrollTo(
0,0)}});function link(parts2,members={}){let pairs=Object.entries(members).filter(([,value])=>value);return`#/${parts2.map(encodeURIComponent).join("/")}${pairs.
length?`?${new URLSearchParams(pairs)}`:""}`}function go(to3){location.hash=to3.replace(/^#/,"")}function refine(members){let{parts:parts2,query:query2}=route.peek(),
merged={...Object.fromEntries(query2),...members};shown=link(parts2,merged),history.replaceState(null,"",shown),route.value=parse()}function Dialog({title,close,children,footer,wide,side}){let element=U(null);return j2(()=>{let dialog=element.current;if(!dialog?.isConnected)return;let before=document.
activeElement;return dialog.showModal(),()=>{dialog.close(),before?.focus?.()}},[]),i2("dialog",{ref:element,class:`${wide?"wide":""} ${side?"side":""}`,"aria-l\
abel":typeof title=="string"?title:void 0,onCancel:event=>{event.preventDefault(),close()},onMouseDown:event=>{event.target===element.current&&close()},children:i2(
"div",{class:"dialog",children:[i2("header",{children:[i2("h2",{children:title}),i2(Button,{icon:"close",kind:"quiet","aria-label":"Close",onClick:close})]}),i2(
"div",{class:"content",children}),footer&&i2("footer",{children:footer})]})})}var PAGE_ROWS=100,ROWS_MAX=2e4,MARGIN_ROWS=12,ANSWERS_MAX=20;function useList(what,members,{keeps,by}={}){let[state2,set]=w({rows:[],next:"",total:null,scanned:0,
searched:null,done:!1,failure:null,waiting:!1,fetched:null}),[turn,again]=w(0),asked=JSON.stringify([what,members,by]),busy=U(null),fetchPage=async(after,before)=>{
busy.current?.abort();let control=busy.current=new AbortController,slow=setTimeout(()=>set(old=>({...old,waiting:!0})),300);try{let page,rows=before,scanned=0,next=after,
answers=0,limit2=keeps?1e3:PAGE_ROWS;do page=what==="keys"?await listKeys({...members,limit:limit2,after:next||void 0},{signal:control.signal}):await get(`list/${what}${query(
{...members,limit:limit2,after:next})}`,{signal:control.signal}),rows=[...rows,...keeps?page.rows.filter(keeps):page.rows],answers+=1,scanned+=page.scanned??0,next=
page.next,next&&!control.signal.aborted&&set(old=>({...old,searched:scanned,total:keeps?null:page.total}));while(next&&rows.length<before.length+(keeps?PAGE_ROWS:
1)&&answers<(keeps?ANSWERS_MAX:1/0)&&!control.signal.aborted);if(control.signal.aborted)return;set({rows,next,total:keeps?null:page.total,scanned,searched:null,
done:!next||rows.length>=ROWS_MAX,failure:null,waiting:!1,fetched:Date.now()/1e3})}catch(failure){control.signal.aborted||set(old=>({...old,failure,waiting:!1,searched:null}))}finally{
clearTimeout(slow),busy.current===control&&(busy.current=null)}};return S2(()=>{if(!what)return;let timer=setTimeout(()=>{fetchPage("",[])},turn||!members.q?0:150);
return()=>{clearTimeout(timer),busy.current?.abort(),busy.current=null}},[asked,turn]),{...state2,more:()=>{!busy.current&&state2.next&&!state2.done&&fetchPage(
state2.next,state2.rows)},reload:()=>again(old=>old+1)}}function Table({label,columns:all,list,id,open,href,empty:empty2,order,selected,select,tone}){let columns=all.
filter(column=>!(column.wide&&narrow.value)),body=U(null),[range,setRange]=w([0,60]),at=U(-1),rowPixels=narrow.value?118:34,{rows}=list,windowed=rows.length>150;
S2(()=>{let look=()=>{let top=body.current?.getBoundingClientRect().top??0,first=Math.max(0,Math.floor(-top/rowPixels)-MARGIN_ROWS),last3=first+Math.ceil(innerHeight/
rowPixels)+2*MARGIN_ROWS;setRange(old=>Math.abs(old[0]-first)<MARGIN_ROWS/2&&Math.abs(old[1]-last3)<MARGIN_ROWS/2?old:[first,last3]),last3>rows.length-30&&list.
more()};return look(),addEventListener("scroll",look,{passive:!0}),addEventListener("resize",look),()=>{removeEventListener("scroll",look),removeEventListener("\
resize",look)}},[rows,rowPixels,list.done]),S2(()=>{let move=event=>{if(event.defaultPrevented||event.typing||!lettersOn(event))return;let step2=event.key==="j"?
1:event.key==="k"?-1:0;if(step2){let next=Math.max(0,Math.min(rows.length-1,at.current+step2));at.current=next,requestAnimationFrame(()=>{let row=body.current?.
querySelector(`[aria-rowindex="${next+2}"]`);row?.focus({preventScroll:!0}),row?.scrollIntoView({block:"nearest"})}),event.preventDefault()}};return addEventListener(
"keydown",move),()=>removeEventListener("keydown",move)},[rows]);let sort=column=>{if(!column.sort)return;let now2=route.value.query.get("sort")??order;refine({
sort:now2===column.sort?`-${column.sort}`:now2===`-${column.sort}`?column.sort:column.number?`-${column.sort}`:column.sort})},sorted=route.value.query.get("sort")??
order??"",[from,to3]=windowed?[Math.min(range[0],rows.length),Math.min(range[1],rows.length)]:[0,rows.length],enter2=row=>{if(open)open(row);else{let to4=href?.(
row);to4&&(location.hash=to4)}},shown2=b(()=>rows.slice(from,to3),[rows,from,to3]),everything=!!select&&rows.length>0&&rows.every(row=>selected?.has(id(row)));if(list.
failure&&!rows.length)return i2(ErrorBox,{failure:list.failure,retry:list.reload});if(list.done&&!rows.length)return i2($,{children:empty2});let searching=list.
searched==null?null:`Searching: ${count(list.searched)}${list.total!=null?` of ${count(list.total)}`:""} so far.`;return!rows.length&&list.fetched==null?i2(Empty,
{icon:"clock",title:searching??"Loading"}):i2($,{children:[i2(Waiting,{on:list.waiting}),list.failure?i2(ErrorBox,{failure:list.failure,retry:list.reload,since:list.
fetched??void 0}):null,i2("table",{class:"list",role:"table","aria-label":label,"aria-rowcount":(list.total??rows.length)+1,ref:body,children:[i2("thead",{role:"\
rowgroup",children:i2("tr",{role:"row","aria-rowindex":1,children:[select&&i2("th",{role:"columnheader",class:"check",children:i2("input",{type:"checkbox","aria\
-label":"Select all that are shown",checked:everything,onChange:()=>select(everything?new Set:new Set(rows.map(id)))})}),columns.map(column=>i2("th",{role:"colu\
mnheader",scope:"col",class:`${column.number?"number":""} ${column.grow?"grow":""}`,"aria-sort":column.sort?sorted===column.sort?"ascending":sorted===`-${column.
sort}`?"descending":"none":void 0,children:column.sort?i2("button",{type:"button",onClick:()=>sort(column),children:[column.name,sorted.replace("-","")===column.
sort&&i2(Icon,{name:sorted.startsWith("-")?"down":"up"})]}):column.name},column.id))]})}),i2("tbody",{role:"rowgroup",children:[from>0&&i2("tr",{role:"presentat\
ion",class:"space",children:i2("td",{role:"presentation",style:{height:`${from*rowPixels}px`}})}),shown2.map((row,index)=>{let name=id(row);return i2("tr",{role:"\
row","aria-rowindex":from+index+2,tabIndex:-1,class:`${tone?.(row)??""} ${selected?.has(name)?"selected":""} ${open||href?"opens":""}`,onFocus:()=>{at.current=from+
index},onKeyDown:event=>{event.key==="Enter"&&event.target===event.currentTarget&&enter2(row)},onClick:event=>{!event.target.closest("a,button,input,label")&&!String(
getSelection())&&enter2(row)},children:[select&&i2("td",{role:"cell",class:"check",children:i2("input",{type:"checkbox","aria-label":`Select ${name}`,checked:selected?.
has(name)??!1,onChange:()=>{let next=new Set(selected);next.delete(name)||next.add(name),select(next)}})}),columns.map(column=>i2("td",{role:"cell","data-name":column.
name,class:`${column.number?"number":""} ${column.grow?"grow":""} ${column.bare?"bare":""}`,children:column.show(row)},column.id))]},name)}),to3<rows.length&&i2(
"tr",{role:"presentation",class:"space",children:i2("td",{role:"presentation",style:{height:`${(rows.length-to3)*rowPixels}px`}})})]})]}),(rows.length>0||!list.
done)&&i2("p",{class:"list-end",children:[searching&&i2("span",{role:"status",children:[searching," "]}),list.done?rows.length>=ROWS_MAX?`The first ${count(rows.
length)} are shown; search for others.`:`${count(rows.length)} shown${list.total!=null&&list.total!==rows.length?` of ${count(list.total)}`:""}.`:i2($,{children:[
count(rows.length)," loaded",list.total!=null?` of ${count(list.total)}`:"",". ",i2(Button,{kind:"quiet",onClick:list.more,children:"Load more"})]})]})]})}function here(rows){
return{rows,total:rows.length,searched:null,done:!0,failure:null,waiting:!1,more:()=>{},reload:()=>{},fetched:null}}function lettersOn(event){let target=event.composedPath()[0];
return!(target instanceof HTMLElement&&(target.isContentEditable||/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)&&target.type!=="checkbox"))&&!event.ctrlKey&&
!event.metaKey&&!event.altKey&&!document.querySelector("dialog[open]")&&localStorage.getItem("letters")!=="off"}function Filter({placeholder,label,secret}){let q4=route.
value.query.get("q")??"",[text,set]=w(q4);return S2(()=>set(typed=>q4||!secret?.is(typed.trim())?q4:typed),[q4]),i2("label",{class:"filter",children:[i2(Icon,{name:"\
search"}),i2("input",{type:"search","aria-label":label,placeholder,value:text,autocomplete:"off",spellcheck:!1,onInput:event=>{let typed=event.currentTarget.value,
hidden=secret?.is(typed.trim())??!1;set(typed),secret?.take(hidden?typed.trim():""),refine({q:hidden?void 0:typed||void 0})}})]})}var Js="uplot",Zs="u-hz",Qs="u-vt",Xs="u-title",er="u-wrap",tr="u-under",lr="u-over",nr="u-axis",$t="u-off",ir="u-select",or="u-cursor-x",sr="u-cursor-y",rr="u-\
cursor-pt",fr="u-legend",ur="u-live",cr="u-inline",ar="u-series",pr="u-marker",ji="u-label",hr="u-value",Hl="width",Nl="height";var qi="bottom",yl="left",Wn="right",Gn="#000",$i=Gn+"0",In="mousemove",Ji="mousedown",Yn="mouseup",Zi="mouseenter",Qi="mouseleave",Xi="dblclick",mr="resize",gr="\
scroll",eo="change",tn="dppxchange",Bn="--",vl=typeof window<"u",Un=vl?document:null,kl=vl?window:null,dr=vl?navigator:null,oe2,ln;function Kn(){let e2=devicePixelRatio;
oe2!=e2&&(oe2=e2,ln&&$n(eo,ln,Kn),ln=matchMedia(`(min-resolution: ${oe2-.001}dppx) and (max-resolution: ${oe2+.001}dppx)`),Jt(eo,ln,Kn),kl.dispatchEvent(new CustomEvent(
tn)))}function Xe(e2,i3){if(i3!=null){let o2=e2.classList;!o2.contains(i3)&&o2.add(i3)}}function jn(e2,i3){let o2=e2.classList;o2.contains(i3)&&o2.remove(i3)}function de2(e2,i3,o2){
e2.style[i3]=o2+"px"}function gt(e2,i3,o2,n){let s3=Un.createElement(e2);return i3!=null&&Xe(s3,i3),o2?.insertBefore(s3,n),s3}function ft(e2,i3){return gt("div",
e2,i3)}var to=new WeakMap;function bt(e2,i3,o2,n,s3){let a3="translate("+i3+"px,"+o2+"px)",u2=to.get(e2);a3!=u2&&(e2.style.transform=a3,to.set(e2,a3),i3<0||o2<0||
i3>n||o2>s3?Xe(e2,$t):jn(e2,$t))}var lo=new WeakMap;function no(e2,i3,o2){let n=i3+o2,s3=lo.get(e2);n!=s3&&(lo.set(e2,n),e2.style.background=i3,e2.style.borderColor=
o2)}var io=new WeakMap;function oo(e2,i3,o2,n){let s3=i3+""+o2,a3=io.get(e2);s3!=a3&&(io.set(e2,s3),e2.style.height=o2+"px",e2.style.width=i3+"px",e2.style.marginLeft=
n?-i3/2+"px":0,e2.style.marginTop=n?-o2/2+"px":0)}var qn={passive:!0},wr={...qn,capture:!0};function Jt(e2,i3,o2,n){i3.addEventListener(e2,o2,n?wr:qn)}function $n(e2,i3,o2,n){
i3.removeEventListener(e2,o2,qn)}vl&&Kn();function dt(e2,i3,o2,n){let s3;o2=o2||0,n=n||i3.length-1;let a3=n<=2147483647;for(;n-o2>1;)s3=a3?o2+n>>1:tt((o2+n)/2),
i3[s3]<e2?o2=s3:n=s3;return e2-i3[o2]<=i3[n]-e2?o2:n}function so(e2){return(o2,n,s3)=>{let a3=-1,u2=-1;for(let h2=n;h2<=s3;h2++)if(e2(o2[h2])){a3=h2;break}for(let h2=s3;h2>=
n;h2--)if(e2(o2[h2])){u2=h2;break}return[a3,u2]}}var ro=e2=>e2!=null,fo=e2=>e2!=null&&e2>0,nn=so(ro),Sr=so(fo);function _r(e2,i3,o2,n=0,s3=!1){let a3=s3?Sr:nn,u2=s3?
fo:ro;[i3,o2]=a3(e2,i3,o2);let h2=e2[i3],m3=e2[i3];if(i3>-1)if(n==1)h2=e2[i3],m3=e2[o2];else if(n==-1)h2=e2[o2],m3=e2[i3];else for(let g4=i3;g4<=o2;g4++){let y4=e2[g4];
u2(y4)&&(y4<h2?h2=y4:y4>m3&&(m3=y4))}return[h2??ce,m3??-ce]}function on(e2,i3,o2,n){let s3=ao(e2),a3=ao(i3);e2==i3&&(s3==-1?(e2*=o2,i3/=o2):(e2/=o2,i3*=o2));let u2=o2==
10?Pt:po,h2=s3==1?tt:ut,m3=a3==1?ut:tt,g4=h2(u2(Ae(e2))),y4=m3(u2(Ae(i3))),d4=xl(o2,g4),w3=xl(o2,y4);return o2==10&&(g4<0&&(d4=ae2(d4,-g4)),y4<0&&(w3=ae2(w3,-y4))),
n||o2==2?(e2=d4*s3,i3=w3*a3):(e2=yo(e2,d4),i3=fn(i3,w3)),[e2,i3]}function Jn(e2,i3,o2,n){let s3=on(e2,i3,o2,n);return e2==0&&(s3[0]=0),i3==0&&(s3[1]=0),s3}var Zn=.1,
uo={mode:3,pad:Zn},Wl={pad:0,soft:null,mode:0},yr={min:Wl,max:Wl};function sn(e2,i3,o2,n){return un(o2)?co(e2,i3,o2):(Wl.pad=o2,Wl.soft=n?0:null,Wl.mode=n?3:0,co(
e2,i3,yr))}function ne2(e2,i3){return e2??i3}function vr(e2,i3,o2){for(i3=ne2(i3,0),o2=ne2(o2,e2.length-1);i3<=o2;){if(e2[i3]!=null)return!0;i3++}return!1}function co(e2,i3,o2){
let n=o2.min,s3=o2.max,a3=ne2(n.pad,0),u2=ne2(s3.pad,0),h2=ne2(n.hard,-ce),m3=ne2(s3.hard,ce),g4=ne2(n.soft,ce),y4=ne2(s3.soft,-ce),d4=ne2(n.mode,0),w3=ne2(s3.mode,
0),L=i3-e2,D5=Pt(L),O3=Be(Ae(e2),Ae(i3)),N3=Pt(O3),G2=Ae(N3-D5);(L<1e-24||G2>10)&&(L=0,(e2==0||i3==0)&&(L=1e-24,d4==2&&g4!=ce&&(a3=0),w3==2&&y4!=-ce&&(u2=0)));let k3=L||
O3||1e3,H3=Pt(k3),x3=xl(10,tt(H3)),q4=k3*(L==0?e2==0?.1:1:a3),P4=ae2(yo(e2-q4,x3/10),24),$2=e2>=g4&&(d4==1||d4==3&&P4<=g4||d4==2&&P4>=g4)?g4:ce,U3=Be(h2,P4<$2&&
e2>=$2?$2:wt($2,P4)),Q3=k3*(L==0?i3==0?.1:1:u2),B3=ae2(fn(i3+Q3,x3/10),24),T3=i3<=y4&&(w3==1||w3==3&&B3>=y4||w3==2&&B3<=y4)?y4:-ce,j4=wt(m3,B3>T3&&i3<=T3?T3:Be(
T3,B3));return U3==j4&&U3==0&&(j4=100),[U3,j4]}var kr=new Intl.NumberFormat(vl?dr.language:"en-US"),Qn=e2=>kr.format(e2),et=Math,rn=et.PI,Ae=et.abs,tt=et.floor,
Ee=et.round,ut=et.ceil,wt=et.min,Be=et.max,xl=et.pow,ao=et.sign,Pt=et.log10,po=et.log2,xr=(e2,i3=1)=>et.sinh(e2)*i3,Xn=(e2,i3=1)=>et.asinh(e2/i3),ce=1/0;function ho(e2){
return(Pt((e2^e2>>31)-(e2>>31))|0)+1}function ei(e2,i3,o2){return wt(Be(e2,i3),o2)}function mo(e2){return typeof e2=="function"}function X2(e2){return mo(e2)?e2:
()=>e2}var Tr=()=>{},go2=e2=>e2,wo=(e2,i3)=>i3,br=e2=>null,So=e2=>!0,_o=(e2,i3)=>e2==i3,Mr=/\.\d*?(?=9{6,}|0{6,})/gm,Zt=e2=>{if(ko(e2)||Ot.has(e2))return e2;let i3=`${e2}`,
o2=i3.match(Mr);if(o2==null)return e2;let n=o2[0].length-1;if(i3.indexOf("e-")!=-1){let[s3,a3]=i3.split("e");return+`${Zt(s3)}e${a3}`}return ae2(e2,n)};function Qt(e2,i3){
return Zt(ae2(Zt(e2/i3))*i3)}function fn(e2,i3){return Zt(ut(Zt(e2/i3))*i3)}function yo(e2,i3){return Zt(tt(Zt(e2/i3))*i3)}function ae2(e2,i3=0){if(ko(e2))return e2;
let o2=10**i3,n=e2*o2*(1+Number.EPSILON);return Ee(n)/o2}var Ot=new Map;function vo(e2){return((""+e2).split(".")[1]||"").length}function Gl(e2,i3,o2,n){let s3=[],
a3=n.map(vo);for(let u2=i3;u2<o2;u2++){let h2=Ae(u2),m3=ae2(xl(e2,u2),h2);for(let g4=0;g4<n.length;g4++){let y4=e2==10?+`${n[g4]}e${u2}`:n[g4]*m3,d4=(u2>=0?0:h2)+
(u2>=a3[g4]?0:a3[g4]),w3=e2==10?y4:ae2(y4,d4);s3.push(w3),Ot.set(w3,d4)}}return s3}var Il={},ti=[],Tl=[null,null],Ht=Array.isArray,ko=Number.isInteger,Ar=e2=>e2===
void 0;function xo(e2){return typeof e2=="string"}function un(e2){let i3=!1;if(e2!=null){let o2=e2.constructor;i3=o2==null||o2==Object}return i3}function Er(e2){
return e2!=null&&typeof e2=="object"}var Pr=Object.getPrototypeOf(Uint8Array),To="__proto__";function bl(e2,i3=un){let o2;if(Ht(e2)){let n=e2.find(s3=>s3!=null);
if(Ht(n)||i3(n)){o2=Array(e2.length);for(let s3=0;s3<e2.length;s3++)o2[s3]=bl(e2[s3],i3)}else o2=e2.slice()}else if(e2 instanceof Pr)o2=e2.slice();else if(i3(e2)){
o2={};for(let n in e2)n!=To&&(o2[n]=bl(e2[n],i3))}else o2=e2;return o2}function Te(e2){let i3=arguments;for(let o2=1;o2<i3.length;o2++){let n=i3[o2];for(let s3 in n)
s3!=To&&(un(e2[s3])?Te(e2[s3],bl(n[s3])):e2[s3]=bl(n[s3]))}return e2}var Dr=0,Lr=1,Cr=2;function Vr(e2,i3,o2){for(let n=0,s3,a3=-1;n<i3.length;n++){let u2=i3[n];
if(u2>a3){for(s3=u2-1;s3>=0&&e2[s3]==null;)e2[s3--]=null;for(s3=u2+1;s3<o2&&e2[s3]==null;)e2[a3=s3++]=null}}}function Rr(e2,i3){if(Or(e2)){let u2=e2[0].slice();
for(let h2=1;h2<e2.length;h2++)u2.push(...e2[h2].slice(1));return Hr(u2[0])||(u2=Fr(u2)),u2}let o2=new Set;for(let u2=0;u2<e2.length;u2++){let m3=e2[u2][0],g4=m3.
length;for(let y4=0;y4<g4;y4++)o2.add(m3[y4])}let n=[Array.from(o2).sort((u2,h2)=>u2-h2)],s3=n[0].length,a3=new Map;for(let u2=0;u2<s3;u2++)a3.set(n[0][u2],u2);
for(let u2=0;u2<e2.length;u2++){let h2=e2[u2],m3=h2[0];for(let g4=1;g4<h2.length;g4++){let y4=h2[g4],d4=Array(s3).fill(void 0),w3=i3?i3[u2][g4]:Lr,L=[];for(let D5=0;D5<
y4.length;D5++){let O3=y4[D5],N3=a3.get(m3[D5]);O3===null?w3!=Dr&&(d4[N3]=O3,w3==Cr&&L.push(N3)):d4[N3]=O3}Vr(d4,L,s3),n.push(d4)}}return n}var zr=typeof queueMicrotask>
"u"?e2=>Promise.resolve().then(e2):queueMicrotask;function Fr(e2){let i3=e2[0],o2=i3.length,n=Array(o2);for(let a3=0;a3<n.length;a3++)n[a3]=a3;n.sort((a3,u2)=>i3[a3]-
i3[u2]);let s3=[];for(let a3=0;a3<e2.length;a3++){let u2=e2[a3],h2=Array(o2);for(let m3=0;m3<o2;m3++)h2[m3]=u2[n[m3]];s3.push(h2)}return s3}function Or(e2){let i3=e2[0][0],
o2=i3.length;for(let n=1;n<e2.length;n++){let s3=e2[n][0];if(s3.length!=o2)return!1;if(s3!=i3){for(let a3=0;a3<o2;a3++)if(s3[a3]!=i3[a3])return!1}}return!0}function Hr(e2,i3=100){
let o2=e2.length;if(o2<=1)return!0;let n=0,s3=o2-1;for(;n<=s3&&e2[n]==null;)n++;for(;s3>=n&&e2[s3]==null;)s3--;if(s3<=n)return!0;let a3=Be(1,tt((s3-n+1)/i3));for(let u2=e2[n],
h2=n+a3;h2<=s3;h2+=a3){let m3=e2[h2];if(m3!=null){if(m3<=u2)return!1;u2=m3}}return!0}var bo=["January","February","March","April","May","June","July","August","\
September","October","November","December"],Mo=["Sunday","Monday","Tuesday","Wednesday","Thursday","Friday","Saturday"];function Ao(e2){return e2.slice(0,3)}var Nr=Mo.
map(Ao),Wr=bo.map(Ao),Gr={MMMM:bo,MMM:Wr,WWWW:Mo,WWW:Nr};function Yl(e2){return(e2<10?"0":"")+e2}function Ir(e2){return(e2<10?"00":e2<100?"0":"")+e2}var Yr={YYYY:e2=>e2.
getFullYear(),YY:e2=>(e2.getFullYear()+"").slice(2),MMMM:(e2,i3)=>i3.MMMM[e2.getMonth()],MMM:(e2,i3)=>i3.MMM[e2.getMonth()],MM:e2=>Yl(e2.getMonth()+1),M:e2=>e2.
getMonth()+1,DD:e2=>Yl(e2.getDate()),D:e2=>e2.getDate(),WWWW:(e2,i3)=>i3.WWWW[e2.getDay()],WWW:(e2,i3)=>i3.WWW[e2.getDay()],HH:e2=>Yl(e2.getHours()),H:e2=>e2.getHours(),
h:e2=>{let i3=e2.getHours();return i3==0?12:i3>12?i3-12:i3},AA:e2=>e2.getHours()>=12?"PM":"AM",aa:e2=>e2.getHours()>=12?"pm":"am",a:e2=>e2.getHours()>=12?"p":"a",
mm:e2=>Yl(e2.getMinutes()),m:e2=>e2.getMinutes(),ss:e2=>Yl(e2.getSeconds()),s:e2=>e2.getSeconds(),fff:e2=>Ir(e2.getMilliseconds())};function li(e2,i3){i3=i3||Gr;
let o2=[],n=/\{([a-z]+)\}|[^{]+/gi,s3;for(;s3=n.exec(e2);)o2.push(s3[0][0]=="{"?Yr[s3[1]]:s3[0]);return a3=>{let u2="";for(let h2=0;h2<o2.length;h2++)u2+=typeof o2[h2]==
"string"?o2[h2]:o2[h2](a3,i3);return u2}}var Br=new Intl.DateTimeFormat().resolvedOptions().timeZone;function Ur(e2,i3){let o2;return i3=="UTC"||i3=="Etc/UTC"?o2=
new Date(+e2+e2.getTimezoneOffset()*6e4):i3==Br?o2=e2:(o2=new Date(e2.toLocaleString("en-US",{timeZone:i3})),o2.setMilliseconds(e2.getMilliseconds())),o2}var Eo=e2=>e2%
1==0,cn=[1,2,2.5,5],Kr=Gl(10,-32,0,cn),Po=Gl(10,0,32,cn),jr=Po.filter(Eo),Xt=Kr.concat(Po),ni=`
`,Do="{YYYY}",Lo=ni+Do,Co="{M}/{D}",Bl=ni+Co,an=Bl+"/{YY}",Vo="{aa}",qr="{h}:{mm}",Ml=qr+Vo,Ro=ni+Ml,zo=":{ss}",re2=null;function Fo(e2){let i3=e2*1e3,o2=i3*60,
n=o2*60,s3=n*24,a3=s3*30,u2=s3*365,m3=(e2==1?Gl(10,0,3,cn).filter(Eo):Gl(10,-3,0,cn)).concat([i3,i3*5,i3*10,i3*15,i3*30,o2,o2*5,o2*10,o2*15,o2*30,n,n*2,n*3,n*4,
n*6,n*8,n*12,s3,s3*2,s3*3,s3*4,s3*5,s3*6,s3*7,s3*8,s3*9,s3*10,s3*15,a3,a3*2,a3*3,a3*4,a3*6,u2,u2*2,u2*5,u2*10,u2*25,u2*50,u2*100]),g4=[[u2,Do,re2,re2,re2,re2,re2,
re2,1],[s3*28,"{MMM}",Lo,re2,re2,re2,re2,re2,1],[s3,Co,Lo,re2,re2,re2,re2,re2,1],[n,"{h}"+Vo,an,re2,Bl,re2,re2,re2,1],[o2,Ml,an,re2,Bl,re2,re2,re2,1],[i3,zo,an+
" "+Ml,re2,Bl+" "+Ml,re2,Ro,re2,1],[e2,zo+".{fff}",an+" "+Ml,re2,Bl+" "+Ml,re2,Ro,re2,1]];function y4(d4){return(w3,L,D5,O3,N3,G2)=>{let k3=[],H3=N3>=u2,x3=N3>=
a3&&N3<u2,q4=d4(D5),P4=ae2(q4*e2,3),$2=ii(q4.getFullYear(),H3?0:q4.getMonth(),x3||H3?1:q4.getDate()),U3=ae2($2*e2,3);if(x3||H3){let Q3=x3?N3/a3:0,B3=H3?N3/u2:0,
T3=P4==U3?P4:ae2(ii($2.getFullYear()+B3,$2.getMonth()+Q3,1)*e2,3),j4=new Date(Ee(T3/e2)),C2=j4.getFullYear(),I3=j4.getMonth();for(let F4=0;T3<=O3;F4++){let ee2=ii(
C2+B3*F4,I3+Q3*F4,1),z3=ee2-d4(ae2(ee2*e2,3));T3=ae2((+ee2+z3)*e2,3),T3<=O3&&k3.push(T3)}}else{let Q3=N3>=s3?s3:N3,B3=tt(D5)-tt(P4),T3=U3+B3+fn(P4-U3,Q3);k3.push(
T3);let j4=d4(T3),C2=j4.getHours()+j4.getMinutes()/o2+j4.getSeconds()/n,I3=N3/n,F4=w3.axes[L]._space,ee2=G2/F4;for(;T3=ae2(T3+N3,e2==1?0:3),!(T3>O3);)if(I3>1){let z3=tt(
ae2(C2+I3,6))%24,te2=d4(T3).getHours()-z3;te2>1&&(te2=-1),T3-=te2*n,C2=(C2+I3)%24;let fe2=k3[k3.length-1];ae2((T3-fe2)/N3,3)*ee2>=.7&&k3.push(T3)}else k3.push(T3)}
return k3}}return[m3,g4,y4]}var[$r,Jr,Zr]=Fo(1),[Qr,Xr,ef]=Fo(.001);Gl(2,-53,53,[1]);function Oo(e2,i3){return e2.map(o2=>o2.map((n,s3)=>s3==0||s3==8||n==null?n:
i3(s3==1||o2[8]==0?n:o2[1]+n)))}function Ho(e2,i3){return(o2,n,s3,a3,u2)=>{let h2=i3.find(D5=>u2>=D5[0])||i3[i3.length-1],m3,g4,y4,d4,w3,L;return n.map(D5=>{let O3=e2(
D5),N3=O3.getFullYear(),G2=O3.getMonth(),k3=O3.getDate(),H3=O3.getHours(),x3=O3.getMinutes(),q4=O3.getSeconds(),P4=N3!=m3&&h2[2]||G2!=g4&&h2[3]||k3!=y4&&h2[4]||
H3!=d4&&h2[5]||x3!=w3&&h2[6]||q4!=L&&h2[7]||h2[1];return m3=N3,g4=G2,y4=k3,d4=H3,w3=x3,L=q4,P4(O3)})}}function tf(e2,i3){let o2=li(i3);return(n,s3,a3,u2,h2)=>s3.
map(m3=>o2(e2(m3)))}function ii(e2,i3,o2){return new Date(e2,i3,o2)}function No(e2,i3){return i3(e2)}var lf="{YYYY}-{MM}-{DD} {h}:{mm}{aa}";function Wo(e2,i3){return(o2,n,s3,a3)=>a3==
null?Bn:i3(e2(n))}function nf(e2,i3){let o2=e2.series[i3];return o2.width?o2.stroke(e2,i3):o2.points.width?o2.points.stroke(e2,i3):null}function of(e2,i3){return e2.
series[i3].fill(e2,i3)}var sf={show:!0,live:!0,isolate:!1,mount:Tr,markers:{show:!0,width:2,stroke:nf,fill:of,dash:"solid"},idx:null,idxs:null,values:[]};function rf(e2,i3){
let o2=e2.cursor.points,n=ft(),s3=o2.size(e2,i3);de2(n,Hl,s3),de2(n,Nl,s3);let a3=s3/-2;de2(n,"marginLeft",a3),de2(n,"marginTop",a3);let u2=o2.width(e2,i3,s3);return u2&&
de2(n,"borderWidth",u2),n}function ff(e2,i3){let o2=e2.series[i3].points;return o2._fill||o2._stroke}function uf(e2,i3){let o2=e2.series[i3].points;return o2._stroke||
o2._fill}function cf(e2,i3){return e2.series[i3].points.size}var oi=[0,0];function af(e2,i3,o2){return oi[0]=i3,oi[1]=o2,oi}function pn(e2,i3,o2,n=!0){return s3=>{
s3.button==0&&(!n||s3.target==i3)&&o2(s3)}}function si(e2,i3,o2,n=!0){return s3=>{(!n||s3.target==i3)&&o2(s3)}}var pf={show:!0,x:!0,y:!0,lock:!1,move:af,points:{
one:!1,show:rf,size:cf,width:0,stroke:uf,fill:ff},bind:{mousedown:pn,mouseup:pn,click:pn,dblclick:pn,mousemove:si,mouseleave:si,mouseenter:si},drag:{setScale:!0,
x:!0,y:!1,dist:0,uni:null,click:(e2,i3)=>{i3.stopPropagation(),i3.stopImmediatePropagation()},_x:!1,_y:!1},focus:{dist:(e2,i3,o2,n,s3)=>n-s3,prox:-1,bias:0},hover:{
skip:[void 0],prox:null,bias:0},left:-10,top:-10,idx:null,dataIdx:null,idxs:null,event:null},Go={show:!0,stroke:"rgba(0,0,0,0.07)",width:2},ri=Te({},Go,{filter:wo}),
Io=Te({},ri,{size:10}),Yo=Te({},Go,{show:!1}),fi='12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Co\
lor Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"',Bo="bold "+fi,Uo=1.5,Ko={show:!0,scale:"x",stroke:Gn,space:50,gap:5,alignTo:1,size:50,labelGap:0,
labelSize:30,labelFont:Bo,side:2,grid:ri,ticks:Io,border:Yo,font:fi,lineGap:Uo,rotate:0},hf="Value",mf="Time",jo={show:!0,scale:"x",auto:!1,sorted:1,min:ce,max:-ce,
idxs:[]};function gf(e2,i3,o2,n,s3){return i3.map(a3=>a3==null?"":Qn(a3))}function df(e2,i3,o2,n,s3,a3,u2){let h2=[],m3=Ot.get(s3)||0;o2=u2?o2:ae2(fn(o2,s3),m3);
for(let g4=o2;g4<=n;g4=ae2(g4+s3,m3))h2.push(Object.is(g4,-0)?0:g4);return h2}function ui(e2,i3,o2,n,s3,a3,u2){let h2=[],m3=e2.scales[e2.axes[i3].scale].log,g4=m3==
10?Pt:po,y4=tt(g4(o2));s3=xl(m3,y4),m3==10&&(s3=Xt[dt(s3,Xt)]);let d4=o2,w3=s3*m3;m3==10&&(w3=Xt[dt(w3,Xt)]);do h2.push(d4),d4=d4+s3,m3==10&&!Ot.has(d4)&&(d4=ae2(
d4,Ot.get(s3))),d4>=w3&&(s3=d4,w3=s3*m3,m3==10&&(w3=Xt[dt(w3,Xt)]));while(d4<=n);return h2}function wf(e2,i3,o2,n,s3,a3,u2){let m3=e2.scales[e2.axes[i3].scale].
asinh,g4=n>m3?ui(e2,i3,Be(m3,o2),n,s3):[m3],y4=n>=0&&o2<=0?[0]:[];return(o2<-m3?ui(e2,i3,Be(m3,-n),-o2,s3):[m3]).reverse().map(w3=>-w3).concat(y4,g4)}var qo=/./,
Sf=/[12357]/,_f=/[125]/,$o=/1/,ci=(e2,i3,o2,n)=>e2.map((s3,a3)=>i3==4&&s3==0||a3%n==0&&o2.test(s3.toExponential()[s3<0?1:0])?s3:null);function yf(e2,i3,o2,n,s3){
let a3=e2.axes[o2],u2=a3.scale,h2=e2.scales[u2],m3=e2.valToPos,g4=a3._space,y4=m3(10,u2),d4=m3(9,u2)-y4>=g4?qo:m3(7,u2)-y4>=g4?Sf:m3(5,u2)-y4>=g4?_f:$o;if(d4==$o){
let w3=Ae(m3(1,u2)-y4);if(w3<g4)return ci(i3.slice().reverse(),h2.distr,d4,ut(g4/w3)).reverse()}return ci(i3,h2.distr,d4,1)}function vf(e2,i3,o2,n,s3){let a3=e2.
axes[o2],u2=a3.scale,h2=a3._space,m3=e2.valToPos,g4=Ae(m3(1,u2)-m3(2,u2));return g4<h2?ci(i3.slice().reverse(),3,qo,ut(h2/g4)).reverse():i3}function kf(e2,i3,o2,n){
return n==null?Bn:i3==null?"":Qn(i3)}var Jo={show:!0,scale:"y",stroke:Gn,space:30,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:Bo,side:3,grid:ri,ticks:Io,
border:Yo,font:fi,lineGap:Uo,rotate:0};function xf(e2,i3){let o2=3+(e2||1)*2;return ae2(o2*i3,3)}function Tf(e2,i3){let{scale:o2,idxs:n}=e2.series[0],s3=e2._data[0],
a3=e2.valToPos(s3[n[0]],o2,!0),u2=e2.valToPos(s3[n[1]],o2,!0),h2=Ae(u2-a3),m3=e2.series[i3],g4=h2/(m3.points.space*oe2);return n[1]-n[0]<=g4}var Zo={scale:null,
auto:!0,sorted:0,min:ce,max:-ce},Qo=(e2,i3,o2,n,s3)=>s3,Xo={show:!0,auto:!0,sorted:0,gaps:Qo,alpha:1,facets:[Te({},Zo,{scale:"x"}),Te({},Zo,{scale:"y"})]},es={scale:"\
y",auto:!0,sorted:0,show:!0,spanGaps:!1,gaps:Qo,alpha:1,points:{show:Tf,filter:null},values:null,min:ce,max:-ce,idxs:[],path:null,clip:null};function bf(e2,i3,o2,n,s3){
return o2/10}var ts={time:!0,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0},Mf=Te({},ts,{time:!1,ori:1}),ls={};function ns(e2,i3){let o2=ls[e2];return o2||
(o2={key:e2,plots:[],sub(n){o2.plots.push(n)},unsub(n){o2.plots=o2.plots.filter(s3=>s3!=n)},pub(n,s3,a3,u2,h2,m3,g4){for(let y4=0;y4<o2.plots.length;y4++)o2.plots[y4]!=
s3&&o2.plots[y4].pub(n,s3,a3,u2,h2,m3,g4)}},e2!=null&&(ls[e2]=o2)),o2}var Al=1,ai=2;function el(e2,i3,o2){let n=e2.mode,s3=e2.series[i3],a3=n==2?e2._data[i3]:e2.
_data,u2=e2.scales,h2=e2.bbox,m3=a3[0],g4=n==2?a3[1]:a3[i3],y4=n==2?u2[s3.facets[0].scale]:u2[e2.series[0].scale],d4=n==2?u2[s3.facets[1].scale]:u2[s3.scale],w3=h2.
left,L=h2.top,D5=h2.width,O3=h2.height,N3=e2.valToPosH,G2=e2.valToPosV;return y4.ori==0?o2(s3,m3,g4,y4,d4,N3,G2,w3,L,D5,O3,mn,El,dn,ss,fs):o2(s3,m3,g4,y4,d4,G2,
N3,L,w3,O3,D5,gn,Pl,mi,rs,us)}function pi(e2,i3){let o2=0,n=0,s3=ne2(e2.bands,ti);for(let a3=0;a3<s3.length;a3++){let u2=s3[a3];u2.series[0]==i3?o2=u2.dir:u2.series[1]==
i3&&(u2.dir==1?n|=1:n|=2)}return[o2,n==1?-1:n==2?1:n==3?2:0]}function Af(e2,i3,o2,n,s3){let a3=e2.mode,u2=e2.series[i3],h2=a3==2?u2.facets[1].scale:u2.scale,m3=e2.
scales[h2];return s3==-1?m3.min:s3==1?m3.max:m3.distr==3?m3.dir==1?m3.min:m3.max:0}function Dt(e2,i3,o2,n,s3,a3){return el(e2,i3,(u2,h2,m3,g4,y4,d4,w3,L,D5,O3,N3)=>{
let G2=u2.pxRound,k3=g4.dir*(g4.ori==0?1:-1),H3=g4.ori==0?El:Pl,x3,q4;k3==1?(x3=o2,q4=n):(x3=n,q4=o2);let P4=G2(d4(h2[x3],g4,O3,L)),$2=G2(w3(m3[x3],y4,N3,D5)),U3=G2(
d4(h2[q4],g4,O3,L)),Q3=G2(w3(a3==1?y4.max:y4.min,y4,N3,D5)),B3=new Path2D(s3);return H3(B3,U3,Q3),H3(B3,P4,Q3),H3(B3,P4,$2),B3})}function hn(e2,i3,o2,n,s3,a3){let u2=null;
if(e2.length>0){u2=new Path2D;let h2=i3==0?dn:mi,m3=o2;for(let d4=0;d4<e2.length;d4++){let w3=e2[d4];if(w3[1]>w3[0]){let L=w3[0]-m3;L>0&&h2(u2,m3,n,L,n+a3),m3=w3[1]}}
let g4=o2+s3-m3,y4=10;g4>0&&h2(u2,m3,n-y4/2,g4,n+a3+y4)}return u2}function Ef(e2,i3,o2){let n=e2[e2.length-1];n&&n[0]==i3?n[1]=o2:e2.push([i3,o2])}function hi(e2,i3,o2,n,s3,a3,u2){
let h2=[],m3=e2.length;for(let g4=s3==1?o2:n;g4>=o2&&g4<=n;g4+=s3)if(i3[g4]===null){let d4=g4,w3=g4;if(s3==1)for(;++g4<=n&&i3[g4]===null;)w3=g4;else for(;--g4>=
o2&&i3[g4]===null;)w3=g4;let L=a3(e2[d4]),D5=w3==d4?L:a3(e2[w3]),O3=d4-s3;L=u2<=0&&O3>=0&&O3<m3?a3(e2[O3]):L;let G2=w3+s3;D5=u2>=0&&G2>=0&&G2<m3?a3(e2[G2]):D5,D5>=
L&&h2.push([L,D5])}return h2}function is(e2){return e2==0?go2:e2==1?Ee:i3=>Qt(i3,e2)}function os(e2){let i3=e2==0?mn:gn,o2=e2==0?(s3,a3,u2,h2,m3,g4)=>{s3.arcTo(
a3,u2,h2,m3,g4)}:(s3,a3,u2,h2,m3,g4)=>{s3.arcTo(u2,a3,m3,h2,g4)},n=e2==0?(s3,a3,u2,h2,m3)=>{s3.rect(a3,u2,h2,m3)}:(s3,a3,u2,h2,m3)=>{s3.rect(u2,a3,m3,h2)};return(s3,a3,u2,h2,m3,g4=0,y4=0)=>{
g4==0&&y4==0?n(s3,a3,u2,h2,m3):(g4=wt(g4,h2/2,m3/2),y4=wt(y4,h2/2,m3/2),i3(s3,a3+g4,u2),o2(s3,a3+h2,u2,a3+h2,u2+m3,g4),o2(s3,a3+h2,u2+m3,a3,u2+m3,y4),o2(s3,a3,u2+
m3,a3,u2,y4),o2(s3,a3,u2,a3+h2,u2,g4),s3.closePath())}}var mn=(e2,i3,o2)=>{e2.moveTo(i3,o2)},gn=(e2,i3,o2)=>{e2.moveTo(o2,i3)},El=(e2,i3,o2)=>{e2.lineTo(i3,o2)},
Pl=(e2,i3,o2)=>{e2.lineTo(o2,i3)},dn=os(0),mi=os(1),ss=(e2,i3,o2,n,s3,a3)=>{e2.arc(i3,o2,n,s3,a3)},rs=(e2,i3,o2,n,s3,a3)=>{e2.arc(o2,i3,n,s3,a3)},fs=(e2,i3,o2,n,s3,a3,u2)=>{
e2.bezierCurveTo(i3,o2,n,s3,a3,u2)},us=(e2,i3,o2,n,s3,a3,u2)=>{e2.bezierCurveTo(o2,i3,s3,n,u2,a3)};function cs(e2){return(i3,o2,n,s3,a3)=>el(i3,o2,(u2,h2,m3,g4,y4,d4,w3,L,D5,O3,N3)=>{
let{pxRound:G2,points:k3}=u2,H3,x3;g4.ori==0?(H3=mn,x3=ss):(H3=gn,x3=rs);let q4=ae2(k3.width*oe2,3),P4=(k3.size-k3.width)/2*oe2,$2=ae2(P4*2,3),U3=new Path2D,Q3=new Path2D,
{left:B3,top:T3,width:j4,height:C2}=i3.bbox;dn(Q3,B3-$2,T3-$2,j4+$2*2,C2+$2*2);let I3=F4=>{if(m3[F4]!=null){let ee2=G2(d4(h2[F4],g4,O3,L)),z3=G2(w3(m3[F4],y4,N3,
D5));H3(U3,ee2+P4,z3),x3(U3,ee2,z3,P4,0,rn*2)}};if(a3)a3.forEach(I3);else for(let F4=n;F4<=s3;F4++)I3(F4);return{stroke:q4>0?U3:null,fill:U3,clip:Q3,flags:Al|ai}})}
function as(e2){return(i3,o2,n,s3,a3,u2)=>{n!=s3&&(a3!=n&&u2!=n&&e2(i3,o2,n),a3!=s3&&u2!=s3&&e2(i3,o2,s3),e2(i3,o2,u2))}}var Pf=as(El),Df=as(Pl);function ps(e2){
let i3=ne2(e2?.alignGaps,0);return(o2,n,s3,a3)=>el(o2,n,(u2,h2,m3,g4,y4,d4,w3,L,D5,O3,N3)=>{[s3,a3]=nn(m3,s3,a3);let G2=u2.pxRound,k3=C2=>G2(d4(C2,g4,O3,L)),H3=C2=>G2(
w3(C2,y4,N3,D5)),x3,q4;g4.ori==0?(x3=El,q4=Pf):(x3=Pl,q4=Df);let P4=g4.dir*(g4.ori==0?1:-1),$2={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Al},
U3=$2.stroke,Q3=!1;if(a3-s3>=O3*4){let C2=V4=>o2.posToVal(V4,g4.key,!0),I3=null,F4=null,ee2,z3,Ue,we2=k3(h2[P4==1?s3:a3]),te2=k3(h2[s3]),fe2=k3(h2[a3]),J3=C2(P4==
1?te2+1:fe2-1);for(let V4=P4==1?s3:a3;V4>=s3&&V4<=a3;V4+=P4){let be2=h2[V4],Se=(P4==1?be2<J3:be2>J3)?we2:k3(be2),se2=m3[V4];Se==we2?se2!=null?(z3=se2,I3==null?(x3(
U3,Se,H3(z3)),ee2=I3=F4=z3):z3<I3?I3=z3:z3>F4&&(F4=z3)):se2===null&&(Q3=!0):(I3!=null&&q4(U3,we2,H3(I3),H3(F4),H3(ee2),H3(z3)),se2!=null?(z3=se2,x3(U3,Se,H3(z3)),
I3=F4=ee2=z3):(I3=F4=null,se2===null&&(Q3=!0)),we2=Se,J3=C2(we2+P4))}I3!=null&&I3!=F4&&Ue!=we2&&q4(U3,we2,H3(I3),H3(F4),H3(ee2),H3(z3))}else for(let C2=P4==1?s3:
a3;C2>=s3&&C2<=a3;C2+=P4){let I3=m3[C2];I3===null?Q3=!0:I3!=null&&x3(U3,k3(h2[C2]),H3(I3))}let[T3,j4]=pi(o2,n);if(u2.fill!=null||T3!=0){let C2=$2.fill=new Path2D(
U3),I3=u2.fillTo(o2,n,u2.min,u2.max,T3),F4=H3(I3),ee2=k3(h2[s3]),z3=k3(h2[a3]);P4==-1&&([z3,ee2]=[ee2,z3]),x3(C2,z3,F4),x3(C2,ee2,F4)}if(!u2.spanGaps){let C2=[];
Q3&&C2.push(...hi(h2,m3,s3,a3,P4,k3,i3)),$2.gaps=C2=u2.gaps(o2,n,s3,a3,C2),$2.clip=hn(C2,g4.ori,L,D5,O3,N3)}return j4!=0&&($2.band=j4==2?[Dt(o2,n,s3,a3,U3,-1),Dt(
o2,n,s3,a3,U3,1)]:Dt(o2,n,s3,a3,U3,j4)),$2})}function Lf(e2){let i3=ne2(e2.align,1),o2=ne2(e2.ascDesc,!1),n=ne2(e2.alignGaps,0),s3=ne2(e2.extend,!1);return(a3,u2,h2,m3)=>el(
a3,u2,(g4,y4,d4,w3,L,D5,O3,N3,G2,k3,H3)=>{[h2,m3]=nn(d4,h2,m3);let x3=g4.pxRound,{left:q4,width:P4}=a3.bbox,$2=te2=>x3(D5(te2,w3,k3,N3)),U3=te2=>x3(O3(te2,L,H3,
G2)),Q3=w3.ori==0?El:Pl,B3={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Al},T3=B3.stroke,j4=w3.dir*(w3.ori==0?1:-1),C2=U3(d4[j4==1?h2:m3]),I3=$2(
y4[j4==1?h2:m3]),F4=I3,ee2=I3;s3&&i3==-1&&(ee2=q4,Q3(T3,ee2,C2)),Q3(T3,I3,C2);for(let te2=j4==1?h2:m3;te2>=h2&&te2<=m3;te2+=j4){let fe2=d4[te2];if(fe2==null)continue;
let J3=$2(y4[te2]),V4=U3(fe2);i3==1?Q3(T3,J3,C2):Q3(T3,F4,V4),Q3(T3,J3,V4),C2=V4,F4=J3}let z3=F4;s3&&i3==1&&(z3=q4+P4,Q3(T3,z3,C2));let[Ue,we2]=pi(a3,u2);if(g4.
fill!=null||Ue!=0){let te2=B3.fill=new Path2D(T3),fe2=g4.fillTo(a3,u2,g4.min,g4.max,Ue),J3=U3(fe2);Q3(te2,z3,J3),Q3(te2,ee2,J3)}if(!g4.spanGaps){let te2=[];te2.
push(...hi(y4,d4,h2,m3,j4,$2,n));let fe2=g4.width*oe2/2,J3=o2||i3==1?fe2:-fe2,V4=o2||i3==-1?-fe2:fe2;te2.forEach(be2=>{be2[0]+=J3,be2[1]+=V4}),B3.gaps=te2=g4.gaps(
a3,u2,h2,m3,te2),B3.clip=hn(te2,w3.ori,N3,G2,k3,H3)}return we2!=0&&(B3.band=we2==2?[Dt(a3,u2,h2,m3,T3,-1),Dt(a3,u2,h2,m3,T3,1)]:Dt(a3,u2,h2,m3,T3,we2)),B3})}function hs(e2,i3,o2,n,s3,a3,u2=ce){
if(e2.length>1){let h2=null;for(let m3=0,g4=1/0;m3<e2.length;m3++)if(i3[m3]!==void 0){if(h2!=null){let y4=Ae(e2[m3]-e2[h2]);y4<g4&&(g4=y4,u2=Ae(o2(e2[m3],n,s3,a3)-
o2(e2[h2],n,s3,a3)))}h2=m3}}return u2}function Cf(e2){e2=e2||Il;let i3=ne2(e2.size,[.6,ce,1]),o2=e2.align||0,n=e2.gap||0,s3=e2.radius;s3=s3==null?[0,0]:typeof s3==
"number"?[s3,0]:s3;let a3=X2(s3),u2=1-i3[0],h2=ne2(i3[1],ce),m3=ne2(i3[2],1),g4=ne2(e2.disp,Il),y4=ne2(e2.each,L=>{}),{fill:d4,stroke:w3}=g4;return(L,D5,O3,N3)=>el(
L,D5,(G2,k3,H3,x3,q4,P4,$2,U3,Q3,B3,T3)=>{let j4=G2.pxRound,C2=o2,I3=n*oe2,F4=h2*oe2,ee2=m3*oe2,z3,Ue;x3.ori==0?[z3,Ue]=a3(L,D5):[Ue,z3]=a3(L,D5);let we2=x3.dir*
(x3.ori==0?1:-1),te2=x3.ori==0?dn:mi,fe2=x3.ori==0?y4:(A3,pe2,Me,il,Gt,_t,It)=>{y4(A3,pe2,Me,Gt,il,It,_t)},J3=ne2(L.bands,ti).find(A3=>A3.series[0]==D5),V4=J3!=
null?J3.dir:0,be2=G2.fillTo(L,D5,G2.min,G2.max,V4),Ne=j4($2(be2,q4,T3,Q3)),Se,se2,ct,qe=B3,ye=j4(G2.width*oe2),St=!1,Mt=null,lt=null,Lt=null,tl=null;d4!=null&&(ye==
0||w3!=null)&&(St=!0,Mt=d4.values(L,D5,O3,N3),lt=new Map,new Set(Mt).forEach(A3=>{A3!=null&&lt.set(A3,new Path2D)}),ye>0&&(Lt=w3.values(L,D5,O3,N3),tl=new Map,new Set(
Lt).forEach(A3=>{A3!=null&&tl.set(A3,new Path2D)})));let{x0:ll,size:Dl}=g4;if(ll!=null&&Dl!=null){C2=1,k3=ll.values(L,D5,O3,N3),ll.unit==2&&(k3=k3.map(Me=>L.posToVal(
U3+Me*B3,x3.key,!0)));let A3=Dl.values(L,D5,O3,N3);Dl.unit==2?se2=A3[0]*B3:se2=P4(A3[0],x3,B3,U3)-P4(0,x3,B3,U3),qe=hs(k3,H3,P4,x3,B3,U3,qe),ct=qe-se2+I3}else qe=
hs(k3,H3,P4,x3,B3,U3,qe),ct=qe*u2+I3,se2=qe-ct;ct<1&&(ct=0),ye>=se2/2&&(ye=0),ct<5&&(j4=go2);let Ul=ct>0,Nt=qe-ct-(Ul?ye:0);se2=j4(ei(Nt,ee2,F4)),Se=(C2==0?se2/
2:C2==we2?0:se2)-C2*we2*((C2==0?I3/2:0)+(Ul?ye/2:0));let We={stroke:null,fill:null,clip:null,band:null,gaps:null,flags:0},nl=St?null:new Path2D,At=null;if(J3!=null)
At=L.data[J3.series[1]];else{let{y0:A3,y1:pe2}=g4;A3!=null&&pe2!=null&&(H3=pe2.values(L,D5,O3,N3),At=A3.values(L,D5,O3,N3))}let Wt=z3*se2,K2=Ue*se2;for(let A3=we2==
1?O3:N3;A3>=O3&&A3<=N3;A3+=we2){let pe2=H3[A3];if(pe2==null)continue;if(At!=null){let Ke=At[A3]??0;if(pe2-Ke==0)continue;Ne=$2(Ke,q4,T3,Q3)}let Me=x3.distr!=2||
g4!=null?k3[A3]:A3,il=P4(Me,x3,B3,U3),Gt=$2(ne2(pe2,be2),q4,T3,Q3),_t=j4(il-Se),It=j4(Be(Gt,Ne)),$e=j4(wt(Gt,Ne)),nt=It-$e;if(pe2!=null){let Ke=pe2<0?K2:Wt,at=pe2<
0?Wt:K2;St?(ye>0&&Lt[A3]!=null&&te2(tl.get(Lt[A3]),_t,$e+tt(ye/2),se2,Be(0,nt-ye),Ke,at),Mt[A3]!=null&&te2(lt.get(Mt[A3]),_t,$e+tt(ye/2),se2,Be(0,nt-ye),Ke,at)):
te2(nl,_t,$e+tt(ye/2),se2,Be(0,nt-ye),Ke,at),fe2(L,D5,A3,_t-ye/2,$e,se2+ye,nt)}}return ye>0?We.stroke=St?tl:nl:St||(We._fill=G2.width==0?G2._fill:G2._stroke??G2.
_fill,We.width=0),We.fill=St?lt:nl,We})}function Vf(e2,i3){let o2=ne2(i3?.alignGaps,0);return(n,s3,a3,u2)=>el(n,s3,(h2,m3,g4,y4,d4,w3,L,D5,O3,N3,G2)=>{[a3,u2]=nn(
g4,a3,u2);let k3=h2.pxRound,H3=z3=>k3(w3(z3,y4,N3,D5)),x3=z3=>k3(L(z3,d4,G2,O3)),q4,P4,$2;y4.ori==0?(q4=mn,$2=El,P4=fs):(q4=gn,$2=Pl,P4=us);let U3=y4.dir*(y4.ori==
0?1:-1),Q3=H3(m3[U3==1?a3:u2]),B3=Q3,T3=[],j4=[];for(let z3=U3==1?a3:u2;z3>=a3&&z3<=u2;z3+=U3)if(g4[z3]!=null){let we2=m3[z3],te2=H3(we2);T3.push(B3=te2),j4.push(
x3(g4[z3]))}let C2={stroke:e2(T3,j4,q4,$2,P4,k3),fill:null,clip:null,band:null,gaps:null,flags:Al},I3=C2.stroke,[F4,ee2]=pi(n,s3);if(h2.fill!=null||F4!=0){let z3=C2.
fill=new Path2D(I3),Ue=h2.fillTo(n,s3,h2.min,h2.max,F4),we2=x3(Ue);$2(z3,B3,we2),$2(z3,Q3,we2)}if(!h2.spanGaps){let z3=[];z3.push(...hi(m3,g4,a3,u2,U3,H3,o2)),C2.
gaps=z3=h2.gaps(n,s3,a3,u2,z3),C2.clip=hn(z3,y4.ori,D5,O3,N3,G2)}return ee2!=0&&(C2.band=ee2==2?[Dt(n,s3,a3,u2,I3,-1),Dt(n,s3,a3,u2,I3,1)]:Dt(n,s3,a3,u2,I3,ee2)),
C2})}function Rf(e2){return Vf(zf,e2)}function zf(e2,i3,o2,n,s3,a3){let u2=e2.length;if(u2<2)return null;let h2=new Path2D;if(o2(h2,e2[0],i3[0]),u2==2)n(h2,e2[1],
i3[1]);else{let m3=Array(u2),g4=Array(u2-1),y4=Array(u2-1),d4=Array(u2-1);for(let w3=0;w3<u2-1;w3++)y4[w3]=i3[w3+1]-i3[w3],d4[w3]=e2[w3+1]-e2[w3],g4[w3]=y4[w3]/
d4[w3];m3[0]=g4[0];for(let w3=1;w3<u2-1;w3++)g4[w3]===0||g4[w3-1]===0||g4[w3-1]>0!=g4[w3]>0?m3[w3]=0:(m3[w3]=3*(d4[w3-1]+d4[w3])/((2*d4[w3]+d4[w3-1])/g4[w3-1]+(d4[w3]+
2*d4[w3-1])/g4[w3]),isFinite(m3[w3])||(m3[w3]=0));m3[u2-1]=g4[u2-2];for(let w3=0;w3<u2-1;w3++)s3(h2,e2[w3]+d4[w3]/3,i3[w3]+m3[w3]*d4[w3]/3,e2[w3+1]-d4[w3]/3,i3[w3+
1]-m3[w3+1]*d4[w3]/3,e2[w3+1],i3[w3+1])}return h2}var gi=new Set;function ms(){for(let e2 of gi)e2.syncRect(!0)}vl&&(Jt(mr,kl,ms),Jt(gr,kl,ms,!0),Jt(tn,kl,()=>{
He.pxRatio=oe2}));var Ff=ps(),Of=cs();function gs(e2,i3,o2,n){return(n?[e2[0],e2[1]].concat(e2.slice(2)):[e2[0]].concat(e2.slice(1))).map((a3,u2)=>di(a3,u2,i3,o2))}
function Hf(e2,i3){return e2.map((o2,n)=>n==0?{}:Te({},i3,o2))}function di(e2,i3,o2,n){return Te({},i3==0?o2:n,e2)}function ds(e2,i3,o2){return i3==null?Tl:[i3,
o2]}var Nf=ds;function Wf(e2,i3,o2){return i3==null?Tl:sn(i3,o2,Zn,!0)}function ws(e2,i3,o2,n){return i3==null?Tl:on(i3,o2,e2.scales[n].log,!1)}var Gf=ws;function Ss(e2,i3,o2,n){
return i3==null?Tl:Jn(i3,o2,e2.scales[n].log,!1)}var If=Ss;function Yf(e2,i3,o2,n,s3){let a3=Be(ho(e2),ho(i3)),u2=i3-e2,h2=dt(s3/n*u2,o2);do{let m3=o2[h2],g4=n*
m3/u2;if(g4>=s3&&a3+(m3<5?Ot.get(m3):0)<=17)return[m3,g4]}while(++h2<o2.length);return[0,0]}function _s(e2){let i3,o2;return e2=e2.replace(/(\d+)px/,(n,s3)=>(i3=
Ee((o2=+s3)*oe2))+"px"),[e2,i3,o2]}function Bf(e2){e2.show&&[e2.font,e2.labelFont].forEach(i3=>{let o2=ae2(i3[2]*oe2,1);i3[0]=i3[0].replace(/[0-9.]+px/,o2+"px"),
i3[1]=o2})}function He(e2,i3,o2){let n={mode:ne2(e2.mode,1)},s3=n.mode;function a3(t,l2,r,f2){let c3=l2.valToPct(t);return f2+r*(l2.dir==-1?1-c3:c3)}function u2(t,l2,r,f2){
let c3=l2.valToPct(t);return f2+r*(l2.dir==-1?c3:1-c3)}function h2(t,l2,r,f2){return l2.ori==0?a3(t,l2,r,f2):u2(t,l2,r,f2)}n.valToPosH=a3,n.valToPosV=u2;let m3=!1;
n.status=0;let g4=n.root=ft(Js);if(e2.id!=null&&(g4.id=e2.id),Xe(g4,e2.class),e2.title){let t=ft(Xs,g4);t.textContent=e2.title}let y4=gt("canvas"),d4=n.ctx=y4.getContext(
"2d"),w3=ft(er,g4);Jt("click",w3,t=>{t.target===D5&&(he2!=gl||_e2!=dl)&&Fe.click(n,t)},!0);let L=n.under=ft(tr,w3);w3.appendChild(y4);let D5=n.over=ft(lr,w3);e2=
bl(e2);let O3=+ne2(e2.pxAlign,1),N3=is(O3);(e2.plugins||[]).forEach(t=>{t.opts&&(e2=t.opts(n,e2)||e2)});let G2=e2.ms||.001,k3=n.series=s3==1?gs(e2.series||[],jo,
es,!1):Hf(e2.series||[null],Xo),H3=n.axes=gs(e2.axes||[],Ko,Jo,!0),x3=n.scales={},q4=n.bands=e2.bands||[];q4.forEach(t=>{t.fill=X2(t.fill||null),t.dir=ne2(t.dir,
-1)});let P4=s3==2?k3[1].facets[0].scale:k3[0].scale,$2={axes:zs,series:Ds},U3=(e2.drawOrder||["axes","series"]).map(t=>$2[t]);function Q3(t){let l2=t.distr==3?
r=>Pt(r>0?r:t.clamp(n,r,t.min,t.max,t.key)):t.distr==4?r=>Xn(r,t.asinh):t.distr==100?r=>t.fwd(r):r=>r;return r=>{let f2=l2(r),{_min:c3,_max:p2}=t,S4=p2-c3;return(f2-
c3)/S4}}function B3(t){let l2=x3[t];if(l2==null){let r=(e2.scales||Il)[t]||Il;if(r.from!=null){B3(r.from);let f2=Te({},x3[r.from],r,{key:t});f2.valToPct=Q3(f2),
x3[t]=f2}else{l2=x3[t]=Te({},t==P4?ts:Mf,r),l2.key=t;let f2=l2.time,c3=l2.range,p2=Ht(c3);if((t!=P4||s3==2&&!f2)&&(p2&&(c3[0]==null||c3[1]==null)&&(c3={min:c3[0]==
null?uo:{mode:1,hard:c3[0],soft:c3[0]},max:c3[1]==null?uo:{mode:1,hard:c3[1],soft:c3[1]}},p2=!1),!p2&&un(c3))){let S4=c3;c3=(_3,v3,b3)=>v3==null?Tl:sn(v3,b3,S4)}
l2.range=X2(c3||(f2?Nf:t==P4?l2.distr==3?Gf:l2.distr==4?If:ds:l2.distr==3?ws:l2.distr==4?Ss:Wf)),l2.auto=X2(p2?!1:l2.auto),l2.clamp=X2(l2.clamp||bf),l2._min=l2.
_max=null,l2.valToPct=Q3(l2)}}}B3("x"),B3("y"),s3==1&&k3.forEach(t=>{B3(t.scale)}),H3.forEach(t=>{B3(t.scale)});for(let t in e2.scales)B3(t);let T3=x3[P4],j4=T3.
distr,C2,I3;T3.ori==0?(Xe(g4,Zs),C2=a3,I3=u2):(Xe(g4,Qs),C2=u2,I3=a3);let F4={};for(let t in x3){let l2=x3[t];(l2.min!=null||l2.max!=null)&&(F4[t]={min:l2.min,max:l2.
max},l2.min=l2.max=null)}let ee2=e2.tzDate||(t=>new Date(Ee(t/G2))),z3=e2.fmtDate||li,Ue=G2==1?Zr(ee2):ef(ee2),we2=Ho(ee2,Oo(G2==1?Jr:Xr,z3)),te2=Wo(ee2,No(lf,z3)),
fe2=[],J3=n.legend=Te({},sf,e2.legend),V4=n.cursor=Te({},pf,{drag:{y:s3==2}},e2.cursor),be2=J3.show,Ne=V4.show,Se=J3.markers;J3.idxs=fe2,Se.width=X2(Se.width),Se.
dash=X2(Se.dash),Se.stroke=X2(Se.stroke),Se.fill=X2(Se.fill);let se2,ct,qe,ye=[],St=[],Mt,lt=!1,Lt={};if(J3.live){let t=k3[1]?k3[1].values:null;lt=t!=null,Mt=lt?
t(n,1,0):{_:0};for(let l2 in Mt)Lt[l2]=Bn}if(be2)if(se2=gt("table",fr,g4),qe=gt("tbody",null,se2),J3.mount(n,se2),lt){ct=gt("thead",null,se2,qe);let t=gt("tr",null,
ct);gt("th",null,t);for(var tl in Mt)gt("th",ji,t).textContent=tl}else Xe(se2,cr),J3.live&&Xe(se2,ur);let ll={show:!0},Dl={show:!1};function Ul(t,l2){if(l2==0&&
(lt||!J3.live||s3==2))return Tl;let r=[],f2=gt("tr",ar,qe,qe.childNodes[l2]);Xe(f2,t.class),t.show||Xe(f2,$t);let c3=gt("th",null,f2);if(Se.show){let _3=ft(pr,c3);
if(l2>0){let v3=Se.width(n,l2);v3&&(_3.style.border=v3+"px "+Se.dash(n,l2)+" "+Se.stroke(n,l2)),_3.style.background=Se.fill(n,l2)}}let p2=ft(ji,c3);t.label instanceof
HTMLElement?p2.appendChild(t.label):p2.textContent=t.label,l2>0&&(Se.show||(p2.style.color=t.width>0?Se.stroke(n,l2):Se.fill(n,l2)),We("click",c3,_3=>{if(V4._lock)
return;Bt(_3);let v3=k3.indexOf(t);if((_3.ctrlKey||_3.metaKey)!=J3.isolate){let b3=k3.some((M3,E5)=>E5>0&&E5!=v3&&M3.show);k3.forEach((M3,E5)=>{E5>0&&vt(E5,b3?E5==
v3?ll:Dl:ll,!0,xe2.setSeries)})}else vt(v3,{show:!t.show},!0,xe2.setSeries)},!1),sl&&We(Zi,c3,_3=>{V4._lock||(Bt(_3),vt(k3.indexOf(t),Sl,!0,xe2.setSeries))},!1));
for(var S4 in Mt){let _3=gt("td",hr,f2);_3.textContent="--",r.push(_3)}return[f2,r]}let Nt=new Map;function We(t,l2,r,f2=!0){let c3=Nt.get(l2)||{},p2=V4.bind[t](
n,l2,r,f2);p2&&(Jt(t,l2,c3[t]=p2),Nt.set(l2,c3))}function nl(t,l2,r){let f2=Nt.get(l2)||{};for(let c3 in f2)(t==null||c3==t)&&($n(c3,l2,f2[c3]),delete f2[c3]);t==
null&&Nt.delete(l2)}let At=0,Wt=0,K2=0,A3=0,pe2=0,Me=0,il=pe2,Gt=Me,_t=K2,It=A3,$e=0,nt=0,Ke=0,at=0;n.bbox={};let wn=!1,Kl=!1,ol=!1,Yt=!1,jl=!1,it=!1;function Sn(t,l2,r){
(r||t!=n.width||l2!=n.height)&&wi(t,l2),al(!1),ol=!0,Kl=!0,pl()}function wi(t,l2){n.width=At=K2=t,n.height=Wt=A3=l2,pe2=Me=0,xs(),Ts();let r=n.bbox;$e=r.left=Qt(
pe2*oe2,.5),nt=r.top=Qt(Me*oe2,.5),Ke=r.width=Qt(K2*oe2,.5),at=r.height=Qt(A3*oe2,.5)}let ys=3;function vs(){let t=!1,l2=0;for(;!t;){l2++;let r=Vs(l2),f2=Rs(l2);
t=l2==ys||r&&f2,t||(wi(n.width,n.height),Kl=!0)}}function ks({width:t,height:l2}){Sn(t,l2)}n.setSize=ks;function xs(){let t=!1,l2=!1,r=!1,f2=!1;H3.forEach((c3,p2)=>{
if(c3.show&&c3._show){let{side:S4,_size:_3}=c3,v3=S4%2,b3=c3.label!=null?c3.labelSize:0,M3=_3+b3;M3>0&&(v3?(K2-=M3,S4==3?(pe2+=M3,f2=!0):r=!0):(A3-=M3,S4==0?(Me+=
M3,t=!0):l2=!0))}}),Ut[0]=t,Ut[1]=r,Ut[2]=l2,Ut[3]=f2,K2-=Ct[1]+Ct[3],pe2+=Ct[3],A3-=Ct[2]+Ct[0],Me+=Ct[0]}function Ts(){let t=pe2+K2,l2=Me+A3,r=pe2,f2=Me;function c3(p2,S4){
switch(p2){case 1:return t+=S4,t-S4;case 2:return l2+=S4,l2-S4;case 3:return r-=S4,r+S4;case 0:return f2-=S4,f2+S4}}H3.forEach((p2,S4)=>{if(p2.show&&p2._show){let _3=p2.
side;p2._pos=c3(_3,p2._size),p2.label!=null&&(p2._lpos=c3(_3,p2.labelSize))}})}if(V4.dataIdx==null){let t=V4.hover,l2=t.skip=new Set(t.skip??[]);l2.add(void 0);
let r=t.prox=X2(t.prox),f2=t.bias??=0;V4.dataIdx=(c3,p2,S4,_3)=>{if(p2==0)return S4;let v3=S4,b3=r(c3,p2,S4,_3)??ce,M3=b3>=0&&b3<ce,E5=T3.ori==0?K2:A3,Y=V4.left,
ie2=i3[0],le2=i3[p2];if(l2.has(le2[S4])){v3=null;let Z2=null,W4=null,R2;if(f2==0||f2==-1)for(R2=S4;Z2==null&&R2-- >0;)l2.has(le2[R2])||(Z2=R2);if(f2==0||f2==1)for(R2=
S4;W4==null&&R2++<le2.length;)l2.has(le2[R2])||(W4=R2);if(Z2!=null||W4!=null)if(M3){let ge=Z2==null?-1/0:C2(ie2[Z2],T3,E5,0),ve2=W4==null?1/0:C2(ie2[W4],T3,E5,0),
Re=Y-ge,ue2=ve2-Y;Re<=ue2?Re<=b3&&(v3=Z2):ue2<=b3&&(v3=W4)}else v3=W4==null?Z2:Z2==null?W4:S4-Z2<=W4-S4?Z2:W4}else M3&&Ae(Y-C2(ie2[S4],T3,E5,0))>b3&&(v3=null);return v3}}
let Bt=t=>{V4.event=t};V4.idxs=fe2,V4._lock=!1;let Oe=V4.points;Oe.show=X2(Oe.show),Oe.size=X2(Oe.size),Oe.stroke=X2(Oe.stroke),Oe.width=X2(Oe.width),Oe.fill=X2(
Oe.fill);let yt=n.focus=Te({},e2.focus||{alpha:.3},V4.focus),sl=yt.prox>=0,rl=sl&&Oe.one,ot=[],fl=[],ul=[];function Si(t,l2){let r=Oe.show(n,l2);if(r instanceof
HTMLElement)return Xe(r,rr),Xe(r,t.class),bt(r,-10,-10,K2,A3),D5.insertBefore(r,ot[l2]),r}function _i(t,l2){if(s3==1||l2>0){let r=s3==1&&x3[t.scale].time,f2=t.value;
t.value=r?xo(f2)?Wo(ee2,No(f2,z3)):f2||te2:f2||kf,t.label=t.label||(r?mf:hf)}if(rl||l2>0){t.width=t.width==null?1:t.width,t.paths=t.paths||Ff||br,t.fillTo=X2(t.
fillTo||Af),t.pxAlign=+ne2(t.pxAlign,O3),t.pxRound=is(t.pxAlign),t.stroke=X2(t.stroke||null),t.fill=X2(t.fill||null),t._stroke=t._fill=t._paths=t._focus=null;let r=xf(
Be(1,t.width),1),f2=t.points=Te({},{size:r,width:Be(1,r*.2),stroke:t.stroke,space:r*2,paths:Of,_stroke:null,_fill:null},t.points);f2.show=X2(f2.show),f2.filter=
X2(f2.filter),f2.fill=X2(f2.fill),f2.stroke=X2(f2.stroke),f2.paths=X2(f2.paths),f2.pxAlign=t.pxAlign}if(be2){let r=Ul(t,l2);ye.splice(l2,0,r[0]),St.splice(l2,0,
r[1]),J3.values.push(null)}if(Ne){fe2.splice(l2,0,null);let r=null;rl?l2==0&&(r=Si(t,l2)):l2>0&&(r=Si(t,l2)),ot.splice(l2,0,r),fl.splice(l2,0,0),ul.splice(l2,0,
0)}Ve("addSeries",l2)}function bs(t,l2){l2=l2??k3.length,t=s3==1?di(t,l2,jo,es):di(t,l2,{},Xo),k3.splice(l2,0,t),_i(k3[l2],l2)}n.addSeries=bs;function Ms(t){if(k3.
splice(t,1),be2){J3.values.splice(t,1),St.splice(t,1);let l2=ye.splice(t,1)[0];nl(null,l2.firstChild),l2.remove()}Ne&&(fe2.splice(t,1),ot.splice(t,1)[0].remove(),
fl.splice(t,1),ul.splice(t,1)),Ve("delSeries",t)}n.delSeries=Ms;let Ut=[!1,!1,!1,!1];function As(t,l2){if(t._show=t.show,t.show){let r=t.side%2,f2=x3[t.scale];f2==
null&&(t.scale=r?k3[1].scale:P4,f2=x3[t.scale]);let c3=f2.time;t.size=X2(t.size),t.space=X2(t.space),t.rotate=X2(t.rotate),Ht(t.incrs)&&t.incrs.forEach(S4=>{!Ot.
has(S4)&&Ot.set(S4,vo(S4))}),t.incrs=X2(t.incrs||(f2.distr==2?jr:c3?G2==1?$r:Qr:Xt)),t.splits=X2(t.splits||(c3&&f2.distr==1?Ue:f2.distr==3?ui:f2.distr==4?wf:df)),
t.stroke=X2(t.stroke),t.grid.stroke=X2(t.grid.stroke),t.ticks.stroke=X2(t.ticks.stroke),t.border.stroke=X2(t.border.stroke);let p2=t.values;t.values=Ht(p2)&&!Ht(
p2[0])?X2(p2):c3?Ht(p2)?Ho(ee2,Oo(p2,z3)):xo(p2)?tf(ee2,p2):p2||we2:p2||gf,t.filter=X2(t.filter||(f2.distr>=3&&f2.log==10?yf:f2.distr==3&&f2.log==2?vf:wo)),t.font=
_s(t.font),t.labelFont=_s(t.labelFont),t._size=t.size(n,null,l2,0),t._space=t._rotate=t._incrs=t._found=t._splits=t._values=null,t._size>0&&(Ut[l2]=!0,t._el=ft(
nr,w3))}}function Ll(t,l2,r,f2){let[c3,p2,S4,_3]=r,v3=l2%2,b3=0;return v3==0&&(_3||p2)&&(b3=l2==0&&!c3||l2==2&&!S4?Ee(Ko.size/3):0),v3==1&&(c3||S4)&&(b3=l2==1&&
!p2||l2==3&&!_3?Ee(Jo.size/2):0),b3}let yi=n.padding=(e2.padding||[Ll,Ll,Ll,Ll]).map(t=>X2(ne2(t,Ll))),Ct=n._padding=yi.map((t,l2)=>t(n,l2,Ut,0)),ze,Pe=null,De=null,
ql=s3==1?k3[0].idxs:null,pt=null,Cl=!1;function vi(t,l2){if(i3=t??[],n.data=n._data=i3,s3==2){ze=0;for(let r=1;r<k3.length;r++)ze+=i3[r][0].length}else{i3.length==
0&&(n.data=n._data=i3=[[]]),pt=i3[0],ze=pt.length;let r=i3;if(j4==2){r=i3.slice();let f2=r[0]=Array(ze);for(let c3=0;c3<ze;c3++)f2[c3]=c3}n._data=i3=r}if(al(!0),
Ve("setData"),j4==2&&(ol=!0),l2!==!1){let r=T3;r.auto(n,Cl)?_n():Rt(P4,r.min,r.max),Yt=Yt||V4.left>=0,it=!0,pl()}}n.setData=vi;function _n(){Cl=!0;let t,l2;s3==
1&&(ze>0?(Pe=ql[0]=0,De=ql[1]=ze-1,t=i3[0][Pe],l2=i3[0][De],j4==2?(t=Pe,l2=De):t==l2&&(j4==3?[t,l2]=on(t,t,T3.log,!1):j4==4?[t,l2]=Jn(t,t,T3.log,!1):T3.time?l2=
t+Ee(86400/G2):[t,l2]=sn(t,l2,Zn,!0))):(Pe=ql[0]=t=null,De=ql[1]=l2=null)),Rt(P4,t,l2)}let $l,cl,yn,vn,kn,xn,Tn,bn,Mn,je;function ki(t,l2,r,f2,c3,p2){t??=$i,r??=
ti,f2??="butt",c3??=$i,p2??="round",t!=$l&&(d4.strokeStyle=$l=t),c3!=cl&&(d4.fillStyle=cl=c3),l2!=yn&&(d4.lineWidth=yn=l2),p2!=kn&&(d4.lineJoin=kn=p2),f2!=xn&&(d4.
lineCap=xn=f2),r!=vn&&d4.setLineDash(vn=r)}function xi(t,l2,r,f2){l2!=cl&&(d4.fillStyle=cl=l2),t!=Tn&&(d4.font=Tn=t),r!=bn&&(d4.textAlign=bn=r),f2!=Mn&&(d4.textBaseline=
Mn=f2)}function An(t,l2,r,f2,c3=0){if(f2.length>0&&t.auto(n,Cl)&&(l2==null||l2.min==null)){let p2=ne2(Pe,0),S4=ne2(De,f2.length-1),_3=r.min==null?_r(f2,p2,S4,c3,
t.distr==3):[r.min,r.max];t.min=wt(t.min,r.min=_3[0]),t.max=Be(t.max,r.max=_3[1])}}let Ti={min:null,max:null};function Es(){for(let f2 in x3){let c3=x3[f2];F4[f2]==
null&&(c3.min==null||F4[P4]!=null&&c3.auto(n,Cl))&&(F4[f2]=Ti)}for(let f2 in x3){let c3=x3[f2];F4[f2]==null&&c3.from!=null&&F4[c3.from]!=null&&(F4[f2]=Ti)}F4[P4]!=
null&&al(!0);let t={};for(let f2 in F4){let c3=F4[f2];if(c3!=null){let p2=t[f2]=bl(x3[f2],Er);if(c3.min!=null)Te(p2,c3);else if(f2!=P4||s3==2)if(ze==0&&p2.from==
null){let S4=p2.range(n,null,null,f2);p2.min=S4[0],p2.max=S4[1]}else p2.min=ce,p2.max=-ce}}if(ze>0){k3.forEach((f2,c3)=>{if(s3==1){let p2=f2.scale,S4=F4[p2];if(S4==
null)return;let _3=t[p2];if(c3==0){let v3=_3.range(n,_3.min,_3.max,p2);_3.min=v3[0],_3.max=v3[1],Pe=dt(_3.min,i3[0]),De=dt(_3.max,i3[0]),De-Pe>1&&(i3[0][Pe]<_3.
min&&Pe++,i3[0][De]>_3.max&&De--),f2.min=pt[Pe],f2.max=pt[De]}else f2.show&&f2.auto&&An(_3,S4,f2,i3[c3],f2.sorted);f2.idxs[0]=Pe,f2.idxs[1]=De}else if(c3>0&&f2.
show&&f2.auto){let[p2,S4]=f2.facets,_3=p2.scale,v3=S4.scale,[b3,M3]=i3[c3],E5=t[_3],Y=t[v3];E5!=null&&An(E5,F4[_3],p2,b3,p2.sorted),Y!=null&&An(Y,F4[v3],S4,M3,S4.
sorted),f2.min=S4.min,f2.max=S4.max}});for(let f2 in t){let c3=t[f2],p2=F4[f2];if(c3.from==null&&(p2==null||p2.min==null)){let S4=c3.range(n,c3.min==ce?null:c3.
min,c3.max==-ce?null:c3.max,f2);c3.min=S4[0],c3.max=S4[1]}}}for(let f2 in t){let c3=t[f2];if(c3.from!=null){let p2=t[c3.from];if(p2.min==null)c3.min=c3.max=null;else{
let S4=c3.range(n,p2.min,p2.max,f2);c3.min=S4[0],c3.max=S4[1]}}}let l2={},r=!1;for(let f2 in t){let c3=t[f2],p2=x3[f2];if(p2.min!=c3.min||p2.max!=c3.max){p2.min=
c3.min,p2.max=c3.max;let S4=p2.distr;p2._min=S4==3?Pt(p2.min):S4==4?Xn(p2.min,p2.asinh):S4==100?p2.fwd(p2.min):p2.min,p2._max=S4==3?Pt(p2.max):S4==4?Xn(p2.max,p2.
asinh):S4==100?p2.fwd(p2.max):p2.max,l2[f2]=r=!0}}if(r){k3.forEach((f2,c3)=>{s3==2?c3>0&&l2.y&&(f2._paths=null):l2[f2.scale]&&(f2._paths=null)});for(let f2 in l2)
ol=!0,Ve("setScale",f2);Ne&&V4.left>=0&&(Yt=it=!0)}for(let f2 in F4)F4[f2]=null}function Ps(t){let l2=ei(Pe-1,0,ze-1),r=ei(De+1,0,ze-1);for(;t[l2]==null&&l2>0;)
l2--;for(;t[r]==null&&r<ze-1;)r++;return[l2,r]}function Ds(){if(ze>0){let t=k3.some(l2=>l2._focus)&&je!=yt.alpha;t&&(d4.globalAlpha=je=yt.alpha),k3.forEach((l2,r)=>{
if(r>0&&l2.show&&(bi(r,!1),bi(r,!0),l2._paths==null)){let f2=je;je!=l2.alpha&&(d4.globalAlpha=je=l2.alpha);let c3=s3==2?[0,i3[r][0].length-1]:Ps(i3[r]);l2._paths=
l2.paths(n,r,c3[0],c3[1]),je!=f2&&(d4.globalAlpha=je=f2)}}),k3.forEach((l2,r)=>{if(r>0&&l2.show){let f2=je;je!=l2.alpha&&(d4.globalAlpha=je=l2.alpha),l2._paths!=
null&&Mi(r,!1);{let c3=l2._paths!=null?l2._paths.gaps:null,p2=l2.points.show(n,r,Pe,De,c3),S4=l2.points.filter(n,r,p2,c3);(p2||S4)&&(l2.points._paths=l2.points.
paths(n,r,Pe,De,S4),Mi(r,!0))}je!=f2&&(d4.globalAlpha=je=f2),Ve("drawSeries",r)}}),t&&(d4.globalAlpha=je=1)}}function bi(t,l2){let r=l2?k3[t].points:k3[t];r._stroke=
r.stroke(n,t),r._fill=r.fill(n,t)}function Mi(t,l2){let r=l2?k3[t].points:k3[t],{stroke:f2,fill:c3,clip:p2,flags:S4,_stroke:_3=r._stroke,_fill:v3=r._fill,_width:b3=r.
width}=r._paths;b3=ae2(b3*oe2,3);let M3=null,E5=b3%2/2;l2&&v3==null&&(v3=b3>0?"#fff":_3);let Y=r.pxAlign==1&&E5>0;if(Y&&d4.translate(E5,E5),!l2){let ie2=$e-b3/2,
le2=nt-b3/2,Z2=Ke+b3,W4=at+b3;M3=new Path2D,M3.rect(ie2,le2,Z2,W4)}l2?En(_3,b3,r.dash,r.cap,v3,f2,c3,S4,p2):Ls(t,_3,b3,r.dash,r.cap,v3,f2,c3,S4,M3,p2),Y&&d4.translate(
-E5,-E5)}function Ls(t,l2,r,f2,c3,p2,S4,_3,v3,b3,M3){let E5=!1;v3!=0&&q4.forEach((Y,ie2)=>{if(Y.series[0]==t){let le2=k3[Y.series[1]],Z2=i3[Y.series[1]],W4=(le2.
_paths||Il).band;Ht(W4)&&(W4=Y.dir==1?W4[0]:W4[1]);let R2,ge=null;le2.show&&W4&&vr(Z2,Pe,De)?(ge=Y.fill(n,ie2)||p2,R2=le2._paths.clip):W4=null,En(l2,r,f2,c3,ge,
S4,_3,v3,b3,M3,R2,W4),E5=!0}}),E5||En(l2,r,f2,c3,p2,S4,_3,v3,b3,M3)}let Ai=Al|ai;function En(t,l2,r,f2,c3,p2,S4,_3,v3,b3,M3,E5){ki(t,l2,r,f2,c3),(v3||b3||E5)&&(d4.
save(),v3&&d4.clip(v3),b3&&d4.clip(b3)),E5?(_3&Ai)==Ai?(d4.clip(E5),M3&&d4.clip(M3),Zl(c3,S4),Jl(t,p2,l2)):_3&ai?(Zl(c3,S4),d4.clip(E5),Jl(t,p2,l2)):_3&Al&&(d4.
save(),d4.clip(E5),M3&&d4.clip(M3),Zl(c3,S4),d4.restore(),Jl(t,p2,l2)):(Zl(c3,S4),Jl(t,p2,l2)),(v3||b3||E5)&&d4.restore()}function Jl(t,l2,r){r>0&&(l2 instanceof
Map?l2.forEach((f2,c3)=>{d4.strokeStyle=$l=c3,d4.stroke(f2)}):l2!=null&&t&&d4.stroke(l2))}function Zl(t,l2){l2 instanceof Map?l2.forEach((r,f2)=>{d4.fillStyle=cl=
f2,d4.fill(r)}):l2!=null&&t&&d4.fill(l2)}function Cs(t,l2,r,f2){let c3=H3[t],p2;if(f2<=0)p2=[0,0];else{let S4=c3._space=c3.space(n,t,l2,r,f2),_3=c3._incrs=c3.incrs(
n,t,l2,r,f2,S4);p2=Yf(l2,r,_3,f2,S4)}return c3._found=p2}function Pn(t,l2,r,f2,c3,p2,S4,_3,v3,b3){let M3=S4%2/2;O3==1&&d4.translate(M3,M3),ki(_3,S4,v3,b3,_3),d4.
beginPath();let E5,Y,ie2,le2,Z2=c3+(f2==0||f2==3?-p2:p2);r==0?(Y=c3,le2=Z2):(E5=c3,ie2=Z2);for(let W4=0;W4<t.length;W4++)l2[W4]!=null&&(r==0?E5=ie2=t[W4]:Y=le2=
t[W4],d4.moveTo(E5,Y),d4.lineTo(ie2,le2));d4.stroke(),O3==1&&d4.translate(-M3,-M3)}function Vs(t){let l2=!0;return H3.forEach((r,f2)=>{if(!r.show)return;let c3=x3[r.
scale];if(c3.min==null){r._show&&(l2=!1,r._show=!1,al(!1));return}else r._show||(l2=!1,r._show=!0,al(!1));let p2=r.side,S4=p2%2,{min:_3,max:v3}=c3,[b3,M3]=Cs(f2,
_3,v3,S4==0?K2:A3);if(M3==0)return;let E5=c3.distr==2,Y=r._splits=r.splits(n,f2,_3,v3,b3,M3,E5),ie2=c3.distr==2?Y.map(R2=>pt[R2]):Y,le2=c3.distr==2?pt[Y[1]]-pt[Y[0]]:
b3,Z2=r._values=r.values(n,r.filter(n,ie2,f2,M3,le2),f2,M3,le2);r._rotate=p2==2?r.rotate(n,Z2,f2,M3):0;let W4=r._size;r._size=ut(r.size(n,Z2,f2,t)),W4!=null&&r.
_size!=W4&&(l2=!1)}),l2}function Rs(t){let l2=!0;return yi.forEach((r,f2)=>{let c3=r(n,f2,Ut,t);c3!=Ct[f2]&&(l2=!1),Ct[f2]=c3}),l2}function zs(){for(let t=0;t<H3.
length;t++){let l2=H3[t];if(!l2.show||!l2._show)continue;let r=l2.side,f2=r%2,c3,p2,S4=l2.stroke(n,t),_3=r==0||r==3?-1:1,[v3,b3]=l2._found;if(l2.label!=null){let Ie=l2.
labelGap*_3,Qe=Ee((l2._lpos+Ie)*oe2);xi(l2.labelFont[0],S4,"center",r==2?"top":qi),d4.save(),f2==1?(c3=p2=0,d4.translate(Qe,Ee(nt+at/2)),d4.rotate((r==3?-rn:rn)/
2)):(c3=Ee($e+Ke/2),p2=Qe);let qt=mo(l2.label)?l2.label(n,t,v3,b3):l2.label;d4.fillText(qt,c3,p2),d4.restore()}if(b3==0)continue;let M3=x3[l2.scale],E5=f2==0?Ke:
at,Y=f2==0?$e:nt,ie2=l2._splits,le2=M3.distr==2?ie2.map(Ie=>pt[Ie]):ie2,Z2=M3.distr==2?pt[ie2[1]]-pt[ie2[0]]:v3,W4=l2.ticks,R2=l2.border,ge=W4.show?W4.size:0,ve2=Ee(
ge*oe2),Re=Ee((l2.alignTo==2?l2._size-ge-l2.gap:l2.gap)*oe2),ue2=l2._rotate*-rn/180,ke2=N3(l2._pos*oe2),Je=(ve2+Re)*_3,Ge=ke2+Je;p2=f2==0?Ge:0,c3=f2==1?Ge:0;let st=l2.
font[0],ht=l2.align==1?yl:l2.align==2?Wn:ue2>0?yl:ue2<0?Wn:f2==0?"center":r==3?Wn:yl,xt=ue2||f2==1?"middle":r==2?"top":qi;xi(st,S4,ht,xt);let Ze=l2.font[1]*l2.lineGap,
rt=ie2.map(Ie=>N3(h2(Ie,M3,E5,Y))),mt=l2._values;for(let Ie=0;Ie<mt.length;Ie++){let Qe=mt[Ie];if(Qe!=null){f2==0?c3=rt[Ie]:p2=rt[Ie],Qe=""+Qe;let qt=Qe.indexOf(
`
`)==-1?[Qe]:Qe.split(/\n/gm);for(let Ye=0;Ye<qt.length;Ye++){let Ki=qt[Ye];ue2?(d4.save(),d4.translate(c3,p2+Ye*Ze),d4.rotate(ue2),d4.fillText(Ki,0,0),d4.restore()):
d4.fillText(Ki,c3,p2+Ye*Ze)}}}W4.show&&Pn(rt,W4.filter(n,le2,t,b3,Z2),f2,r,ke2,ve2,ae2(W4.width*oe2,3),W4.stroke(n,t),W4.dash,W4.cap);let Tt=l2.grid;Tt.show&&Pn(
rt,Tt.filter(n,le2,t,b3,Z2),f2,f2==0?2:1,f2==0?nt:$e,f2==0?at:Ke,ae2(Tt.width*oe2,3),Tt.stroke(n,t),Tt.dash,Tt.cap),R2.show&&Pn([ke2],[1],f2==0?1:0,f2==0?1:2,f2==
1?nt:$e,f2==1?at:Ke,ae2(R2.width*oe2,3),R2.stroke(n,t),R2.dash,R2.cap)}Ve("drawAxes")}function al(t){k3.forEach((l2,r)=>{r>0&&(l2._paths=null,t&&(s3==1?(l2.min=
null,l2.max=null):l2.facets.forEach(f2=>{f2.min=null,f2.max=null})))})}let Ql=!1,Dn=!1,Vl=[];function Fs(){Dn=!1;for(let t=0;t<Vl.length;t++)Ve(...Vl[t]);Vl.length=
0}function pl(){Ql||(zr(Ei),Ql=!0)}function Os(t,l2=!1){Ql=!0,Dn=l2,t(n),Ei(),l2&&Vl.length>0&&queueMicrotask(Fs)}n.batch=Os;function Ei(){if(wn&&(Es(),wn=!1),ol&&
(vs(),ol=!1),Kl){if(de2(L,yl,pe2),de2(L,"top",Me),de2(L,Hl,K2),de2(L,Nl,A3),de2(D5,yl,pe2),de2(D5,"top",Me),de2(D5,Hl,K2),de2(D5,Nl,A3),de2(w3,Hl,At),de2(w3,Nl,
Wt),y4.width=Ee(At*oe2),y4.height=Ee(Wt*oe2),H3.forEach(({_el:t,_show:l2,_size:r,_pos:f2,side:c3})=>{if(t!=null)if(l2){let p2=c3===3||c3===0?r:0,S4=c3%2==1;de2(
t,S4?"left":"top",f2-p2),de2(t,S4?"width":"height",r),de2(t,S4?"top":"left",S4?Me:pe2),de2(t,S4?"height":"width",S4?A3:K2),jn(t,$t)}else Xe(t,$t)}),$l=cl=yn=kn=
xn=Tn=bn=Mn=vn=null,je=1,Fl(!0),pe2!=il||Me!=Gt||K2!=_t||A3!=It){al(!1);let t=K2/_t,l2=A3/It;if(Ne&&!Yt&&V4.left>=0){V4.left*=t,V4.top*=l2,hl&&bt(hl,Ee(V4.left),
0,K2,A3),ml&&bt(ml,0,Ee(V4.top),K2,A3);for(let r=0;r<ot.length;r++){let f2=ot[r];f2!=null&&(fl[r]*=t,ul[r]*=l2,bt(f2,ut(fl[r]),ut(ul[r]),K2,A3))}}if(me2.show&&!jl&&
me2.left>=0&&me2.width>0){me2.left*=t,me2.width*=t,me2.top*=l2,me2.height*=l2;for(let r in Fn)de2(wl,r,me2[r])}il=pe2,Gt=Me,_t=K2,It=A3}Ve("setSize"),Kl=!1}At>0&&
Wt>0&&(d4.clearRect(0,0,y4.width,y4.height),Ve("drawClear"),U3.forEach(t=>t()),Ve("draw")),me2.show&&jl&&(Xl(me2),jl=!1),Ne&&Yt&&(jt(null,!0,!1),Yt=!1),J3.show&&
J3.live&&it&&(Rn(),it=!1),m3||(m3=!0,n.status=1,Ve("ready")),Cl=!1,Ql=!1}n.redraw=(t,l2)=>{ol=l2||!1,t!==!1?Rt(P4,T3.min,T3.max):pl()};function Ln(t,l2){let r=x3[t];
if(r.from==null){if(ze==0){let f2=r.range(n,l2.min,l2.max,t);l2.min=f2[0],l2.max=f2[1]}if(l2.min>l2.max){let f2=l2.min;l2.min=l2.max,l2.max=f2}if(ze>1&&l2.min!=
null&&l2.max!=null&&l2.max-l2.min<1e-16)return;t==P4&&r.distr==2&&ze>0&&(l2.min=dt(l2.min,i3[0]),l2.max=dt(l2.max,i3[0]),l2.min==l2.max&&l2.max++),F4[t]=l2,wn=!0,
pl()}}n.setScale=Ln;let Cn,Vn,hl,ml,Pi,Di,gl,dl,Li,Ci,he2,_e2,Vt=!1,Fe=V4.drag,Le=Fe.x,Ce=Fe.y;Ne&&(V4.x&&(Cn=ft(or,D5)),V4.y&&(Vn=ft(sr,D5)),T3.ori==0?(hl=Cn,ml=
Vn):(hl=Vn,ml=Cn),he2=V4.left,_e2=V4.top);let me2=n.select=Te({show:!0,over:!0,left:0,width:0,top:0,height:0},e2.select),wl=me2.show?ft(ir,me2.over?D5:L):null;function Xl(t,l2){
if(me2.show){for(let r in t)me2[r]=t[r],r in Fn&&de2(wl,r,t[r]);l2!==!1&&Ve("setSelect")}}n.setSelect=Xl;function Hs(t){if(k3[t].show)be2&&jn(ye[t],$t);else if(be2&&
Xe(ye[t],$t),Ne){let r=rl?ot[0]:ot[t];r!=null&&bt(r,-10,-10,K2,A3)}}function Rt(t,l2,r){Ln(t,{min:l2,max:r})}function vt(t,l2,r,f2){l2.focus!=null&&Ys(t),l2.show!=
null&&k3.forEach((c3,p2)=>{p2>0&&(t==p2||t==null)&&(c3.show=l2.show,Hs(p2),s3==2?(Rt(c3.facets[0].scale,null,null),Rt(c3.facets[1].scale,null,null)):Rt(c3.scale,
null,null),pl())}),r!==!1&&Ve("setSeries",t,l2),f2&&Ol("setSeries",n,t,l2)}n.setSeries=vt;function Ns(t,l2){Te(q4[t],l2)}function Ws(t,l2){t.fill=X2(t.fill||null),
t.dir=ne2(t.dir,-1),l2=l2??q4.length,q4.splice(l2,0,t)}function Gs(t){t==null?q4.length=0:q4.splice(t,1)}n.addBand=Ws,n.setBand=Ns,n.delBand=Gs;function Is(t,l2){
k3[t].alpha=l2,Ne&&ot[t]!=null&&(ot[t].style.opacity=l2),be2&&ye[t]&&(ye[t].style.opacity=l2)}let Et,zt,Kt,Sl={focus:!0};function Ys(t){if(t!=Kt){let l2=t==null,
r=yt.alpha!=1;k3.forEach((f2,c3)=>{if(s3==1||c3>0){let p2=l2||c3==0||c3==t;f2._focus=l2?null:p2,r&&Is(c3,p2?1:yt.alpha)}}),Kt=t,r&&pl()}}be2&&sl&&We(Qi,se2,t=>{
V4._lock||(Bt(t),Kt!=null&&vt(null,Sl,!0,xe2.setSeries))});function kt(t,l2,r){let f2=x3[l2];r&&(t=t/oe2-(f2.ori==1?Me:pe2));let c3=K2;f2.ori==1&&(c3=A3,t=c3-t),
f2.dir==-1&&(t=c3-t);let p2=f2._min,S4=f2._max,_3=t/c3,v3=p2+(S4-p2)*_3,b3=f2.distr;return b3==3?xl(10,v3):b3==4?xr(v3,f2.asinh):b3==100?f2.bwd(v3):v3}function Bs(t,l2){
let r=kt(t,P4,l2);return dt(r,i3[0],Pe,De)}n.valToIdx=t=>dt(t,i3[0]),n.posToIdx=Bs,n.posToVal=kt,n.valToPos=(t,l2,r)=>x3[l2].ori==0?a3(t,x3[l2],r?Ke:K2,r?$e:0):
u2(t,x3[l2],r?at:A3,r?nt:0),n.setCursor=(t,l2,r)=>{he2=t.left,_e2=t.top,jt(null,l2,r)};function Vi(t,l2){de2(wl,yl,me2.left=t),de2(wl,Hl,me2.width=l2)}function Ri(t,l2){
de2(wl,"top",me2.top=t),de2(wl,Nl,me2.height=l2)}let Rl=T3.ori==0?Vi:Ri,zl=T3.ori==1?Vi:Ri;function Us(){if(be2&&J3.live)for(let t=s3==2?1:0;t<k3.length;t++){if(t==
0&&lt)continue;let l2=J3.values[t],r=0;for(let f2 in l2)St[t][r++].firstChild.nodeValue=l2[f2]}}function Rn(t,l2){if(t!=null&&(t.idxs?t.idxs.forEach((r,f2)=>{fe2[f2]=
r}):Ar(t.idx)||fe2.fill(t.idx),J3.idx=fe2[0]),be2&&J3.live){for(let r=0;r<k3.length;r++)(r>0||s3==1&&!lt)&&Ks(r,fe2[r]);Us()}it=!1,l2!==!1&&Ve("setLegend")}n.setLegend=
Rn;function Ks(t,l2){let r=k3[t],f2=t==0&&j4==2?pt:i3[t],c3;lt?c3=r.values(n,t,l2)??Lt:(c3=r.value(n,l2==null?null:f2[l2],t,l2),c3=c3==null?Lt:{_:c3}),J3.values[t]=
c3}function jt(t,l2,r){Li=he2,Ci=_e2,[he2,_e2]=V4.move(n,he2,_e2),V4.left=he2,V4.top=_e2,Ne&&(hl&&bt(hl,Ee(he2),0,K2,A3),ml&&bt(ml,0,Ee(_e2),K2,A3));let f2,c3=Pe>
De;Et=ce,zt=null;let p2=T3.ori==0?K2:A3,S4=T3.ori==1?K2:A3;if(he2<0||ze==0||c3){f2=V4.idx=null;for(let _3=0;_3<k3.length;_3++){let v3=ot[_3];v3!=null&&bt(v3,-10,
-10,K2,A3)}sl&&vt(null,Sl,!0,t==null&&xe2.setSeries),J3.live&&(fe2.fill(f2),it=!0)}else{let _3,v3,b3;s3==1&&(_3=T3.ori==0?he2:_e2,v3=kt(_3,P4),f2=V4.idx=dt(v3,i3[0],
Pe,De),b3=C2(i3[0][f2],T3,p2,0));let M3=-10,E5=-10,Y=0,ie2=0,le2=!0,Z2="",W4="";for(let R2=s3==2?1:0;R2<k3.length;R2++){let ge=k3[R2],ve2=fe2[R2],Re=ve2==null?null:
s3==1?i3[R2][ve2]:i3[R2][1][ve2],ue2=V4.dataIdx(n,R2,f2,v3),ke2=ue2==null?null:s3==1?i3[R2][ue2]:i3[R2][1][ue2];if(it=it||ke2!=Re||ue2!=ve2,fe2[R2]=ue2,R2>0&&ge.
show){let Je=ue2==null?-10:ue2==f2?b3:C2(s3==1?i3[0][ue2]:i3[R2][0][ue2],T3,p2,0),Ge=ke2==null?-10:I3(ke2,s3==1?x3[ge.scale]:x3[ge.facets[1].scale],S4,0);if(sl&&
ke2!=null){let st=T3.ori==1?he2:_e2,ht=Ae(yt.dist(n,R2,ue2,Ge,st));if(ht<Et){let xt=yt.bias;if(xt!=0){let Ze=kt(st,ge.scale),rt=ke2>=0?1:-1,mt=Ze>=0?1:-1;mt==rt&&
(mt==1?xt==1?ke2>=Ze:ke2<=Ze:xt==1?ke2<=Ze:ke2>=Ze)&&(Et=ht,zt=R2)}else Et=ht,zt=R2}}if(it||rl){let st,ht;T3.ori==0?(st=Je,ht=Ge):(st=Ge,ht=Je);let xt,Ze,rt,mt,
Tt,Ie,Qe=!0,qt=Oe.bbox;if(qt!=null){Qe=!1;let Ye=qt(n,R2);rt=Ye.left,mt=Ye.top,xt=Ye.width,Ze=Ye.height}else rt=st,mt=ht,xt=Ze=Oe.size(n,R2);if(Ie=Oe.fill(n,R2),
Tt=Oe.stroke(n,R2),rl)R2==zt&&Et<=yt.prox&&(M3=rt,E5=mt,Y=xt,ie2=Ze,le2=Qe,Z2=Ie,W4=Tt);else{let Ye=ot[R2];Ye!=null&&(fl[R2]=rt,ul[R2]=mt,oo(Ye,xt,Ze,Qe),no(Ye,
Ie,Tt),bt(Ye,ut(rt),ut(mt),K2,A3))}}}}if(rl){let R2=yt.prox,ge=Kt==null?Et<=R2:Et>R2||zt!=Kt;if(it||ge){let ve2=ot[0];ve2!=null&&(fl[0]=M3,ul[0]=E5,oo(ve2,Y,ie2,
le2),no(ve2,Z2,W4),bt(ve2,ut(M3),ut(E5),K2,A3))}}}if(me2.show&&Vt)if(t!=null){let[_3,v3]=xe2.scales,[b3,M3]=xe2.match,[E5,Y]=t.cursor.sync.scales,ie2=t.cursor.drag;
if(Le=ie2._x,Ce=ie2._y,Le||Ce){let{left:le2,top:Z2,width:W4,height:R2}=t.select,ge=t.scales[E5].ori,ve2=t.posToVal,Re,ue2,ke2,Je,Ge,st=_3!=null&&b3(_3,E5),ht=v3!=
null&&M3(v3,Y);st&&Le?(ge==0?(Re=le2,ue2=W4):(Re=Z2,ue2=R2),ke2=x3[_3],Je=C2(ve2(Re,E5),ke2,p2,0),Ge=C2(ve2(Re+ue2,E5),ke2,p2,0),Rl(wt(Je,Ge),Ae(Ge-Je))):Rl(0,p2),
ht&&Ce?(ge==1?(Re=le2,ue2=W4):(Re=Z2,ue2=R2),ke2=x3[v3],Je=I3(ve2(Re,Y),ke2,S4,0),Ge=I3(ve2(Re+ue2,Y),ke2,S4,0),zl(wt(Je,Ge),Ae(Ge-Je))):zl(0,S4)}else On()}else{
let _3=Ae(Li-Pi),v3=Ae(Ci-Di);if(T3.ori==1){let Y=_3;_3=v3,v3=Y}Le=Fe.x&&_3>=Fe.dist,Ce=Fe.y&&v3>=Fe.dist;let b3=Fe.uni;b3!=null?Le&&Ce&&(Le=_3>=b3,Ce=v3>=b3,!Le&&
!Ce&&(v3>_3?Ce=!0:Le=!0)):Fe.x&&Fe.y&&(Le||Ce)&&(Le=Ce=!0);let M3,E5;Le&&(T3.ori==0?(M3=gl,E5=he2):(M3=dl,E5=_e2),Rl(wt(M3,E5),Ae(E5-M3)),Ce||zl(0,S4)),Ce&&(T3.
ori==1?(M3=gl,E5=he2):(M3=dl,E5=_e2),zl(wt(M3,E5),Ae(E5-M3)),Le||Rl(0,p2)),!Le&&!Ce&&(Rl(0,0),zl(0,0))}if(Fe._x=Le,Fe._y=Ce,t==null){if(r){if(Ui!=null){let[_3,v3]=xe2.
scales;xe2.values[0]=_3!=null?kt(T3.ori==0?he2:_e2,_3):null,xe2.values[1]=v3!=null?kt(T3.ori==1?he2:_e2,v3):null}Ol(In,n,he2,_e2,K2,A3,f2)}if(sl){let _3=r&&xe2.
setSeries,v3=yt.prox;Kt==null?Et<=v3&&vt(zt,Sl,!0,_3):Et>v3?vt(null,Sl,!0,_3):zt!=Kt&&vt(zt,Sl,!0,_3)}}it&&(J3.idx=f2,Rn()),l2!==!1&&Ve("setCursor")}let Ft=null;
Object.defineProperty(n,"rect",{get(){return Ft==null&&Fl(!1),Ft}});function Fl(t=!1){t?Ft=null:(Ft=D5.getBoundingClientRect(),Ve("syncRect",Ft))}function zi(t,l2,r,f2,c3,p2,S4){
V4._lock||Vt&&t!=null&&t.movementX==0&&t.movementY==0||(zn(t,l2,r,f2,c3,p2,S4,!1,t!=null),t!=null?jt(null,!0,!0):jt(l2,!0,!1))}function zn(t,l2,r,f2,c3,p2,S4,_3,v3){
if(Ft==null&&Fl(!1),Bt(t),t!=null)r=t.clientX-Ft.left,f2=t.clientY-Ft.top;else{if(r<0||f2<0){he2=-10,_e2=-10;return}let[b3,M3]=xe2.scales,E5=l2.cursor.sync,[Y,ie2]=E5.
values,[le2,Z2]=E5.scales,[W4,R2]=xe2.match,ge=l2.axes[0].side%2==1,ve2=T3.ori==0?K2:A3,Re=T3.ori==1?K2:A3,ue2=ge?p2:c3,ke2=ge?c3:p2,Je=ge?f2:r,Ge=ge?r:f2;if(le2!=
null?r=W4(b3,le2)?h2(Y,x3[b3],ve2,0):-10:r=ve2*(Je/ue2),Z2!=null?f2=R2(M3,Z2)?h2(ie2,x3[M3],Re,0):-10:f2=Re*(Ge/ke2),T3.ori==1){let st=r;r=f2,f2=st}}v3&&(l2==null||
l2.cursor.event.type==In)&&((r<=1||r>=K2-1)&&(r=Qt(r,K2)),(f2<=1||f2>=A3-1)&&(f2=Qt(f2,A3))),_3?(Pi=r,Di=f2,[gl,dl]=V4.move(n,r,f2)):(he2=r,_e2=f2)}let Fn={width:0,
height:0,left:0,top:0};function On(){Xl(Fn,!1)}let Fi,Oi,Hi,Ni;function Wi(t,l2,r,f2,c3,p2,S4){Vt=!0,Le=Ce=Fe._x=Fe._y=!1,zn(t,l2,r,f2,c3,p2,S4,!0,!1),t!=null&&
(We(Yn,Un,Gi,!1),Ol(Ji,n,gl,dl,K2,A3,null));let{left:_3,top:v3,width:b3,height:M3}=me2;Fi=_3,Oi=v3,Hi=b3,Ni=M3}function Gi(t,l2,r,f2,c3,p2,S4){Vt=Fe._x=Fe._y=!1,
zn(t,l2,r,f2,c3,p2,S4,!1,!0);let{left:_3,top:v3,width:b3,height:M3}=me2,E5=b3>0||M3>0,Y=Fi!=_3||Oi!=v3||Hi!=b3||Ni!=M3;if(E5&&Y&&Xl(me2),Fe.setScale&&E5&&Y){let ie2=_3,
le2=b3,Z2=v3,W4=M3;if(T3.ori==1&&(ie2=v3,le2=M3,Z2=_3,W4=b3),Le&&Rt(P4,kt(ie2,P4),kt(ie2+le2,P4)),Ce)for(let R2 in x3){let ge=x3[R2];R2!=P4&&ge.from==null&&ge.min!=
ce&&Rt(R2,kt(Z2+W4,R2),kt(Z2,R2))}On()}else V4.lock&&(V4._lock=!V4._lock,jt(l2,!0,t!=null));t!=null&&(nl(Yn,Un),Ol(Yn,n,he2,_e2,K2,A3,null))}function js(t,l2,r,f2,c3,p2,S4){
if(V4._lock)return;Bt(t);let _3=Vt;if(Vt){let v3=!0,b3=!0,M3=10,E5,Y;T3.ori==0?(E5=Le,Y=Ce):(E5=Ce,Y=Le),E5&&Y&&(v3=he2<=M3||he2>=K2-M3,b3=_e2<=M3||_e2>=A3-M3),
E5&&v3&&(he2=he2<gl?0:K2),Y&&b3&&(_e2=_e2<dl?0:A3),jt(null,!0,!0),Vt=!1}he2=-10,_e2=-10,fe2.fill(null),jt(null,!0,!0),_3&&(Vt=_3)}function Ii(t,l2,r,f2,c3,p2,S4){
V4._lock||(Bt(t),_n(),On(),t!=null&&Ol(Xi,n,he2,_e2,K2,A3,null))}function Yi(){H3.forEach(Bf),Sn(n.width,n.height,!0)}Jt(tn,kl,Yi);let _l={};_l.mousedown=Wi,_l.
mousemove=zi,_l.mouseup=Gi,_l.dblclick=Ii,_l.setSeries=(t,l2,r,f2)=>{let c3=xe2.match[2];r=c3(n,l2,r),r!=-1&&vt(r,f2,!0,!1)},Ne&&(We(Ji,D5,Wi),We(In,D5,zi),We(Zi,
D5,t=>{Bt(t),Fl(!1)}),We(Qi,D5,js),We(Xi,D5,Ii),gi.add(n),n.syncRect=Fl);let en=n.hooks=e2.hooks||{};function Ve(t,l2,r){Dn?Vl.push([t,l2,r]):t in en&&en[t].forEach(
f2=>{f2.call(null,n,l2,r)})}(e2.plugins||[]).forEach(t=>{for(let l2 in t.hooks)en[l2]=(en[l2]||[]).concat(t.hooks[l2])});let Bi=(t,l2,r)=>r,xe2=Te({key:null,setSeries:!1,
filters:{pub:So,sub:So},scales:[P4,k3[1]?k3[1].scale:null],match:[_o,_o,Bi],values:[null,null]},V4.sync);xe2.match.length==2&&xe2.match.push(Bi),V4.sync=xe2;let Ui=xe2.
key,Hn=ns(Ui);function Ol(t,l2,r,f2,c3,p2,S4){xe2.filters.pub(t,l2,r,f2,c3,p2,S4)&&Hn.pub(t,l2,r,f2,c3,p2,S4)}Hn.sub(n);function qs(t,l2,r,f2,c3,p2,S4){xe2.filters.
sub(t,l2,r,f2,c3,p2,S4)&&_l[t](null,l2,r,f2,c3,p2,S4)}n.pub=qs;function $s(){Hn.unsub(n),gi.delete(n),Nt.clear(),$n(tn,kl,Yi),g4.remove(),se2?.remove(),Ve("dest\
roy")}n.destroy=$s;function Nn(){Ve("init",e2,i3),vi(i3||e2.data,!1),F4[P4]?Ln(P4,F4[P4]):_n(),jl=me2.show&&(me2.width>0||me2.height>0),Yt=it=!0,Sn(e2.width,e2.
height)}return k3.forEach(_i),H3.forEach(As),o2?o2 instanceof HTMLElement?(o2.appendChild(g4),Nn()):o2(n,Nn):Nn(),n}He.assign=Te,He.fmtNum=Qn,He.rangeNum=sn,He.
rangeLog=on,He.rangeAsinh=Jn,He.orient=el,He.pxRatio=oe2,He.join=Rr,He.fmtDate=li,He.tzDate=Ur,He.sync=ns;{He.addGap=Ef,He.clipGaps=hn;let e2=He.paths={points:cs};
e2.linear=ps,e2.stepped=Lf,e2.bars=Cf,e2.spline=Rf}var TABLE_ROWS_MAX=60,together2=He.sync("time");function token(name){return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()||"#8\
88"}function Plot(props){let{title,unit,lines,times,show}=props,[asTable,setTable]=w(!1),legend=i2("ul",{class:"legend",children:lines.map(line=>i2("li",{children:[
i2("i",{style:{background:token(line.color)},"aria-hidden":"true"}),line.name," ",i2("b",{children:show(last2(line.values))})]},line.name))});return i2("figure",
{class:`plot panel ${props.extra?"with-extra":""}`,children:[i2("header",{children:[i2("h2",{children:[title,i2("small",{children:unit})]}),props.extra,!props.extra&&
legend,i2(Button,{icon:"table",kind:"quiet","aria-pressed":asTable,"aria-label":`${title} as a table`,title:"Show as a table",onClick:()=>setTable(!asTable)})]}),
props.extra&&legend,asTable?i2(Values,{...props}):times.length?i2(Canvas,{...props},`${dark.value}${lines.length}`):i2("div",{class:"empty small",children:"No s\
amples yet."})]})}var height=props=>(props.height??176)-(props.extra&&!narrow.value?20:0);function last2(values){for(let at=values.length-1;at>=Math.max(0,values.
length-5);at-=1)if(values[at]!=null)return values[at];return null}function Values({lines,times,show}){let step2=Math.max(1,Math.ceil(times.length/TABLE_ROWS_MAX)),
rows=times.map((_3,at)=>at).filter(at=>(times.length-1-at)%step2===0).reverse();return i2("div",{class:"scroll",tabIndex:0,children:i2("table",{class:"plain",children:[
i2("thead",{children:i2("tr",{children:[i2("th",{scope:"col",children:["Time (",offset(),")"]}),lines.map(line=>i2("th",{scope:"col",class:"number",children:line.
name},line.name))]})}),i2("tbody",{children:rows.map(at=>i2("tr",{children:[i2("th",{scope:"row",children:clock(times[at],!0)}),lines.map(line=>i2("td",{class:"\
number",children:show(line.values[at]??null)},line.name))]},at))})]})})}function Canvas(props){let host=U(null),plot=U(null),current=U(props);return current.current=
props,S2(()=>{let element=host.current;if(!element)return;let width=()=>Math.max(200,element.clientWidth),text=token("muted"),grid=token("line"),tip=document.createElement(
"div");tip.className="plot-tip",tip.hidden=!0;let options={width:width(),height:height(props),legend:{show:!1},padding:[8,8,0,0],cursor:{sync:{key:together2.key},
drag:{x:!!props.zoom,y:!1,setScale:!1},points:{size:6},y:!1},scales:{x:{time:!0,range:(_3,low,high)=>current.current.span??[low,high]},y:props.log?{distr:3,range:(_3,low,high)=>[
10**Math.floor(Math.log10(Math.max(low||1,props.floor??1))),10**Math.ceil(Math.log10(Math.max(high||10,10*(props.floor??1))))]}:{range:(_3,_low,high)=>[0,high>0?
high*1.08:1]}},axes:[{stroke:text,grid:{stroke:grid,width:1},ticks:{show:!1},font:"11px system-ui",size:22,gap:4,space:70,values:(_3,splits,_a,_b,step2)=>splits.
map(at=>step2>=86400?date(at).slice(5):clock(at,step2<60))},{stroke:text,grid:{stroke:grid,width:1},ticks:{show:!1},font:"11px system-ui",size:56,gap:4,space:28,
...props.unit.startsWith("B")?{incrs:Array.from({length:40},(_3,power)=>2**power)}:{},...props.log?{splits:(_3,_axis,low,high)=>decades(low,high)}:{},values:(_3,splits)=>splits.
map(value=>value==null?"":short(value,props))}],series:[{},...props.lines.map(line=>({label:line.name,stroke:token(line.color),width:1.5,dash:line.dash?[4,3]:void 0,
points:{show:!1},spanGaps:!1,fill:line.fill?`${token(line.color)}22`:void 0,paths:props.bars?He.paths.bars({size:[.85,60]}):void 0}))],hooks:{draw:[drawn=>drawMarks(
drawn,current.current.marks??[])],setCursor:[drawn=>showTip(drawn,tip,current.current)],setSelect:[drawn=>{let{left,width:width2}=drawn.select;width2>4&&current.
current.zoom?.(drawn.posToVal(left,"x"),drawn.posToVal(left+width2,"x")),drawn.setSelect({left:0,top:0,width:0,height:0},!1)}]}},made=plot.current=new He(options,
data(props),element);made.over.append(tip);let observer=new ResizeObserver(()=>made.setSize({width:width(),height:height(current.current)}));return observer.observe(
element),()=>{observer.disconnect(),made.destroy(),plot.current=null}},[]),S2(()=>{plot.current?.setData(data(props))}),i2("div",{class:"canvas",ref:host,role:"\
img","aria-label":`${props.title}, ${props.unit}: ${props.lines.map(line=>`${line.name} ${props.show(last2(line.values))}`).join(", ")}`})}function data({times,
lines,log,floor}){return[times,...lines.map(line=>log?line.values.map(value=>value==null?null:Math.max(value,floor??1)):line.values)]}function short(value,props){
return props.unit.includes("ms")||props.log?duration(value):props.unit.startsWith("B")?bytes(value):value>=1e6?`${value/1e6}M`:value>=1e3?`${value/1e3}k`:String(
Number(value.toPrecision(3)))}function decades(low,high){let first=Math.floor(Math.log10(low)+1e-9),last3=Math.ceil(Math.log10(high)-1e-9),steps=last3-first<=1?
[1,2,5]:last3-first===2?[1,3]:[1];return Array.from({length:last3-first+1},(_3,at)=>steps.map(step2=>step2*10**(first+at))).flat().filter(value=>value>=low*.999&&
value<=high*1.001)}function drawMarks(plot,marks2){let{ctx}=plot,{left,top,width,height:height2}=plot.bbox,taken=1/0;for(let mark of[...marks2].reverse()){let x3=plot.
valToPos(mark.unix_s,"x",!0);if(x3<left||x3>left+width)continue;ctx.save(),ctx.strokeStyle=ctx.fillStyle=token(mark.kind==="config_failed"?"bad":"muted"),ctx.setLineDash(
[3*devicePixelRatio,3*devicePixelRatio]),ctx.lineWidth=devicePixelRatio,ctx.beginPath(),ctx.moveTo(x3,top),ctx.lineTo(x3,top+height2),ctx.stroke(),ctx.font=`${10*
devicePixelRatio}px system-ui`;let word=mark.kind==="restart"?"start":mark.kind==="config"?"config":"config failed",room=ctx.measureText(word).width+4*devicePixelRatio;
ctx.textAlign=x3+room>left+width?"right":"left";let from=ctx.textAlign==="left"?x3:x3-room;from+room<=taken&&from>=left&&(ctx.fillText(word,x3+(ctx.textAlign===
"left"?3:-3)*devicePixelRatio,top+9*devicePixelRatio),taken=from),ctx.restore()}}function showTip(plot,tip,{times,lines,show}){let at=plot.cursor.idx,inside=plot.
cursor.left!=null&&plot.cursor.left>=0&&at!=null;if(tip.hidden=!inside,!inside||at==null)return;tip.replaceChildren();let time=document.createElement("b");time.
textContent=`${moment(times[at],!0)}`,tip.append(time);for(let line of lines){let row=document.createElement("span"),dot=document.createElement("i");dot.style.background=
token(line.color),row.append(dot,`${line.name} ${show(line.values[at]??null)}`),tip.append(row)}let left=plot.cursor.left??0;tip.style.left=left>plot.over.clientWidth/
2?"":`${left+12}px`,tip.style.right=left>plot.over.clientWidth/2?`${plot.over.clientWidth-left+12}px`:""}function Spark({values,tone="accent"}){let kept=values.
slice(-60),high=Math.max(...kept.map(value=>value??0),0);if(!high)return i2("svg",{class:"spark",viewBox:"0 0 60 16","aria-hidden":"true"});let path=kept.map((value,at)=>value==
null?"":`${at===0||kept[at-1]==null?"M":"L"}${at*60/Math.max(1,kept.length-1)} ${15-value/high*14}`).join("");return i2("svg",{class:`spark ${tone}`,viewBox:"0 \
0 60 16",preserveAspectRatio:"none","aria-hidden":"true",children:i2("path",{d:path})})}function useLoaded(fetch2,depends){let[state2,set]=w({value:null,failure:null,waiting:!0,at:null}),[turn,again]=w(0),first=U(depends[0]);return S2(()=>{let gone=!1;
return first.current!==depends[0]&&(first.current=depends[0],set({value:null,failure:null,waiting:!0,at:null})),fetch2().then(value=>{gone||set({value,failure:null,
waiting:!1,at:Date.now()/1e3})},failure=>{gone||set(old=>({...old,failure,waiting:!1}))}),()=>{gone=!0}},[...depends,turn]),{...state2,again:()=>again(old=>old+
1),replace:value=>set({value,failure:null,waiting:!1,at:Date.now()/1e3})}}var STATE={active:"ok",inactive:"muted",expired:"warn",bad:"bad"};function Keys(){return i2(KeyTable,{fixed:{}})}function KeyTable({fixed}){let q4=route.value.query,
[whole,setWhole]=w(""),words2=[whole||q4.get("q"),fixed.policy].filter(Boolean).join(" "),granting=useLoaded(()=>fixed.api?get("list/policies?limit=1000"):Promise.
resolve(null),[fixed.api]),givers=new Set((granting.value?.rows??[]).filter(one=>one.apis.includes(fixed.api)).map(one=>one.id)),calls=row=>row.apis?.includes(fixed.
api)||row.policies?.some(policy=>givers.has(policy));S2(()=>()=>allowances.clear(),[]);let list=useList("keys",{q:words2||void 0,api:fixed.api},fixed.api?{keeps:calls,
by:[...givers].join(" ")}:{}),[chosen,choose]=w(new Set),[bulk,setBulk]=w(null),inner=!!(fixed.api||fixed.policy),[all,chooseAll]=w(!1),search=inner||whole?"":(q4.
get("q")??"").trim(),[everyRow,noteEveryRow]=w(!1);S2(()=>{chooseAll(!1),noteEveryRow(list.rows.length>0&&chosen.size===list.rows.length)},[chosen,words2]);let hasMore=!list.
done||list.rows.length>chosen.size,act=action=>()=>setBulk({action,select:all?{q:search}:{ids:[...chosen]}}),can=may("editor"),chooses=can&&!isScoped(),fresh=can&&
i2(Button,{icon:"plus",kind:"primary","data-key":"n",onClick:()=>refine({new:"1",api:fixed.api}),children:"New key"});return i2($,{children:[i2("div",{class:"pa\
ge-head",children:[inner?i2("h2",{style:{marginRight:"auto"},children:"Keys that may call it"}):i2("h1",{children:["Keys",list.total!=null&&i2("small",{children:count(
list.total)})]}),i2(Filter,{label:"Search keys",placeholder:"Key, hash, alias, policy",secret:{is:mayBeKey,take:setWhole}}),fresh]}),!can&&i2("p",{class:"list-e\
nd",children:"Your role can view keys, not change them."}),i2(Table,{label:"Keys",list,id:row=>row.id,href:to2,order:"id",selected:chooses?chosen:void 0,select:chooses?
choose:void 0,empty:words2?i2(Empty,{icon:"search",title:"No key matches.",children:"A key is found by itself, its hash, its alias or its policy."}):i2(Empty,{icon:"\
key",title:"There is no key yet.",children:["A key says which APIs its owner may call, and how often.",i2("br",{}),fresh]}),columns:[{id:"alias",name:"Alias",grow:!0,
show:row=>i2("a",{href:to2(row),children:i2(Text,{children:row.alias||"without alias"})})},{id:"state",bare:!0,name:"State",show:row=>i2(Badge,{tone:STATE[row.state],
children:row.state})},{id:"id",bare:!0,name:"Key",sort:"id",show:row=>i2(Text,{mono:!0,children:short2(row.id)})},{id:"policies",name:"Policies",show:row=>i2(Text,
{children:row.policies?.join(", ")||"none"})},{id:"apis",name:"APIs",show:row=>i2(Text,{children:row.apis?.join(", ")||(row.policies?.length?"by policy":"none")})},
{id:"limits",name:"Limits",show:row=>i2(Limits,{row})},{id:"expires",name:"Expires",number:!0,show:row=>row.expires>0?i2(Ago,{at:row.expires}):"never"}]}),chosen.
size>0&&i2("div",{class:"bulk",role:"toolbar","aria-label":"Chosen keys",children:[i2("span",{children:all?"All that match are chosen":`${count(chosen.size)} ch\
osen`}),!all&&everyRow&&hasMore&&search&&i2(Button,{kind:"quiet",onClick:()=>chooseAll(!0),children:"Choose all that match"}),i2(Button,{onClick:act("extend"),children:"\
Extend"}),i2(Button,{onClick:act("deactivate"),children:"Deactivate"}),i2(Button,{onClick:act("activate"),children:"Activate"}),i2(Button,{onClick:act("reset_qu\
ota"),children:"Reset quotas"}),i2(Button,{kind:"danger",onClick:act("revoke"),children:"Revoke"}),i2(Button,{icon:"close",kind:"quiet","aria-label":"Choose non\
e",onClick:()=>choose(new Set)})]}),bulk&&i2(BulkDialog,{bulk,close:()=>setBulk(null),done:()=>{setBulk(null),choose(new Set),list.reload()}}),q4.get("new")&&can&&
i2(NewKey,{api:q4.get("api")??fixed.api,policy:q4.get("policy")??void 0,close:()=>{refine({new:void 0,api:void 0,policy:void 0}),list.reload()}})]})}var to2=row=>link(
["keys",row.id],{hash:row.hash}),allowances=new Map;function Limits({row}){let cell2=U(null),[found,set]=w(allowances.get(row.id));S2(()=>{if(found||row.state===
"bad"||!(row.policies?.length||row.quota_max>0)||!cell2.current)return;let watch=new IntersectionObserver(([entry])=>{entry?.isIntersecting&&(watch.disconnect(),
get(`keys/${segment(row.id)}?${row.by}`,{byItself:!0}).then(session2=>{allowances.set(row.id,session2),set(session2)},()=>{}))});return watch.observe(cell2.current),
()=>watch.disconnect()},[]);let shown2=found??row;return i2("span",{ref:cell2,children:row.state==="bad"?UNKNOWN:found&&found.quota_max>0?i2(Meter,{used:found.quota_max-
found.quota_remaining,max:found.quota_max,label:limit(found)}):!found&&row.policies?.length?i2("small",{children:"by policy"}):limit(shown2)})}var short2=id=>id.
length>20?`${id.slice(0,16)}…`:id,VERBS={extend:"Extend",deactivate:"Deactivate",activate:"Activate",reset_quota:"Reset the quotas of",revoke:"Revoke"},SPANS=[
[86400,"1 day"],[7*86400,"7 days"],[30*86400,"30 days"],[90*86400,"90 days"],[365*86400,"1 year"]],TYPED_ABOVE=100;function BulkDialog({bulk,close,done}){let[seconds,
setSeconds]=w(2592e3),[dry,setDry]=w(null),[typed,setTyped]=w(""),[result,setResult]=w(null),[failure,setFailure]=w(null),[busy,setBusy]=w(!1),body={action:bulk.
action,select:bulk.select,...bulk.action==="extend"?{seconds}:{}};S2(()=>{setFailure(null),call("POST","keys/bulk",{...body,dry_run:!0}).then(setDry,setFailure)},
[seconds]);let run=async()=>{setBusy(!0),setFailure(null);try{let found=await call("POST","keys/bulk",{...body,dry_run:!1,...dry.count>TYPED_ABOVE?{confirm:Number(
typed)}:{}});found.failed.length?setResult(found):(say("ok",`${count(found.done)} ${found.done===1?"key":"keys"} changed.`),done())}catch(failed){setFailure(failed)}finally{
setBusy(!1)}},needs=dry&&dry.count>TYPED_ABOVE;return i2(Dialog,{title:`${VERBS[bulk.action]} ${dry?count(dry.count):""} ${dry?.count===1?"key":"keys"}?`,close:result?
done:close,footer:result?i2(Button,{kind:"primary",onClick:done,children:"Close"}):i2($,{children:[i2(Button,{onClick:close,children:"Cancel"}),i2(Button,{kind:bulk.
action==="revoke"?"danger":"primary",disabled:busy||!dry||needs&&typed!==String(dry.count),onClick:()=>{run()},children:[VERBS[bulk.action]," ",dry?count(dry.count):
""]})]}),children:[failure?i2(ErrorBox,{failure}):null,result?i2($,{children:[i2(Note,{tone:"warn",icon:"alert",children:[count(result.done)," changed, ",count(
result.failed.length+(result.failed_more??0))," not:"]}),i2("ul",{children:result.failed.map(one=>i2("li",{children:[i2(Text,{mono:!0,children:one.id})," ",i2(Text,
{children:one.message})]},one.id))})]}):i2($,{children:[bulk.action==="revoke"&&i2("p",{children:"The next request with any of them is refused. This cannot be u\
ndone."}),bulk.action==="extend"&&i2(Field,{label:"By",hint:"Added to the end of each; of expired ones to now.",children:i2("select",{value:seconds,onChange:event=>setSeconds(
Number(event.currentTarget.value)),children:SPANS.map(([span2,name])=>i2("option",{value:span2,children:name},span2))})}),dry&&i2("table",{class:"plain",children:[
i2("thead",{children:i2("tr",{children:[i2("th",{scope:"col",children:"Alias"}),i2("th",{scope:"col",children:"Key"}),i2("th",{scope:"col",children:"State"})]})}),
i2("tbody",{children:dry.sample.map(row=>i2("tr",{children:[i2("td",{children:i2(Text,{children:row.alias})}),i2("td",{children:i2(Text,{mono:!0,children:short2(
row.id)})}),i2("td",{children:row.state})]},row.id))})]}),dry&&dry.count>dry.sample.length&&i2("small",{children:["and ",count(dry.count-dry.sample.length)," mo\
re"]}),needs&&i2(Field,{label:`Type ${dry.count} to go on`,children:i2("input",{inputMode:"numeric",value:typed,onInput:event=>setTyped(event.currentTarget.value)})})]})]})}
function NewKey({api,policy,close}){let[apis2,setApis]=w(null),[policies,setPolicies]=w(null),[way,setWay]=w(policy?"policies":"limits"),[chosenApis,setChosenApis]=w(
new Set(api?[api]:[])),[chosenPolicies,setChosenPolicies]=w(new Set(policy?[policy]:[])),[alias,setAlias]=w(""),[rate2,setRate]=w("10"),[per,setPer]=w("60"),[quota,
setQuota]=w(""),[renewal,setRenewal]=w(86400),[life,setLife]=w(0),[custom,setCustom]=w(""),[effective,setEffective]=w(null),[failure,setFailure]=w(null),[made,setMade]=w(
null),[busy,setBusy]=w(!1),[filter,setFilter]=w("");S2(()=>{let timer=setTimeout(()=>{get(`list/apis${query({q:filter,limit:50})}`).then(page=>{setApis(page.rows),
!filter&&page.rows.length===1&&setChosenApis(old=>old.size?old:new Set([page.rows[0].id]))},setFailure)},filter?150:0);return()=>clearTimeout(timer)},[filter]),
S2(()=>{get("list/policies?limit=200").then(page=>setPolicies(page.rows),setFailure)},[]);let session2=()=>{let expires=life?Math.round(Date.now()/1e3)+life:0,common={
org_id:"default",alias,expires};return way==="policies"?{...common,apply_policies:[...chosenPolicies],rate:0,per:0,quota_max:0}:{...common,rate:Number(rate2)||0,
per:Number(per)||0,allowance:Number(rate2)||0,quota_max:quota===""?-1:Number(quota),quota_renewal_rate:quota===""?0:renewal,access_rights:Object.fromEntries([...chosenApis].
map(id=>[id,{api_id:id,api_name:apis2?.find(one=>one.id===id)?.name??id,versions:["Default"]}]))}},complete=way==="policies"?chosenPolicies.size>0:chosenApis.size>
0&&Number(rate2)>=0,asked=JSON.stringify(session2());S2(()=>{if(!complete){setEffective(null);return}let control=new AbortController,timer=setTimeout(()=>{call(
"POST","keys/preview",session2(),{signal:control.signal}).then(setEffective,()=>{})},300);return()=>{clearTimeout(timer),control.abort()}},[way==="policies"?asked:
"",complete]);let make=async event=>{if(event.preventDefault(),!(!complete||busy)){setBusy(!0),setFailure(null);try{setMade(await call("POST",custom?`keys/${encodeURIComponent(
custom)}`:"keys/create",session2()))}catch(failed){setFailure(failed)}finally{setBusy(!1)}}};if(made)return i2(Made,{made,api:apis2?.find(one=>chosenApis.has(one.
id))??apis2?.find(one=>effective?.access_rights?.[one.id]),close});let toggle=(set,id)=>{let next=new Set(set);return next.delete(id)||next.add(id),next},rights=Object.
keys(effective?.access_rights??{});return i2(Dialog,{title:"New key",close,wide:!0,footer:i2($,{children:[i2("span",{children:complete?"":way==="policies"?"Choo\
se a policy.":"Choose an API."}),i2(Button,{onClick:close,children:"Cancel"}),i2(Button,{kind:"primary",type:"submit",form:"new-key",disabled:!complete||busy,children:"\
Make the key"})]}),children:i2("form",{id:"new-key",class:"form",onSubmit:make,children:[failure?i2("div",{class:"field wide",children:i2(ErrorBox,{failure})}):
null,i2(Field,{label:"Alias",hint:"Whose key it is; shown in lists, records and the live tail.",children:i2("input",{autofocus:!0,value:alias,maxLength:200,onInput:event=>setAlias(
event.currentTarget.value),placeholder:"acme"})}),i2(Field,{label:"Valid",children:i2("select",{value:life,onChange:event=>setLife(Number(event.currentTarget.value)),
children:[i2("option",{value:0,children:"until revoked"}),SPANS.map(([span2,name])=>i2("option",{value:span2,children:["for ",name]},span2))]})}),i2("div",{class:"\
field wide",children:[i2("span",{children:"Rights and limits"}),i2("div",{class:"segments",role:"group","aria-label":"Rights and limits",children:[i2("button",{
type:"button","aria-pressed":way==="limits",onClick:()=>setWay("limits"),children:"of its own"}),i2("button",{type:"button","aria-pressed":way==="policies",onClick:()=>setWay(
"policies"),children:"from policies"})]})]}),way==="policies"?i2("div",{class:"field wide",children:[i2("span",{children:"Policies"}),policies?.length===0?i2(Note,
{children:["There is no policy yet. Give this key limits of its own, or ",i2("a",{href:link(["policies"],{new:"1"}),children:"make a policy"}),"."]}):i2("div",{
class:"choices",children:policies?.map(one=>i2("label",{class:"choice",children:[i2("input",{type:"checkbox",checked:chosenPolicies.has(one.id),onChange:()=>setChosenPolicies(
toggle(chosenPolicies,one.id))}),i2(Text,{children:one.name||one.id}),i2("small",{children:limit(one)})]},one.id))})]}):i2($,{children:[i2("div",{class:"field w\
ide",children:[i2("span",{children:"APIs that it may call"}),(apis2?.length??0)>8||filter?i2("input",{type:"search","aria-label":"Filter APIs",placeholder:"Filt\
er",value:filter,onInput:event=>setFilter(event.currentTarget.value)}):null,apis2?.length===0&&!filter?i2(Note,{children:"There is no API yet."}):apis2?i2("div",
{class:"choices",children:apis2.map(one=>i2("label",{class:"choice",children:[i2("input",{type:"checkbox",checked:chosenApis.has(one.id),onChange:()=>setChosenApis(
toggle(chosenApis,one.id))}),i2(Text,{children:one.name||one.id}),i2("small",{class:"mono",children:i2(Text,{children:one.listen_path})})]},one.id))}):i2("small",
{children:"Loading"})]}),i2(Field,{label:"Requests",hint:Number(rate2)===0?"No limit.":void 0,children:i2("input",{type:"number",min:0,step:"any",value:rate2,onInput:event=>setRate(
event.currentTarget.value)})}),i2(Field,{label:"in seconds",children:i2("input",{type:"number",min:0,step:"any",value:per,onInput:event=>setPer(event.currentTarget.
value)})}),i2(Field,{label:"Quota",children:i2("input",{type:"number",min:1,placeholder:"no quota",value:quota,onInput:event=>setQuota(event.currentTarget.value)})}),
i2(Field,{label:"renewed every",children:i2("select",{value:renewal,disabled:quota==="",onChange:event=>setRenewal(Number(event.currentTarget.value)),children:[
i2("option",{value:3600,children:"hour"}),i2("option",{value:86400,children:"day"}),i2("option",{value:604800,children:"week"}),i2("option",{value:2592e3,children:"\
30 days"})]})})]}),i2(Field,{label:"Key",wide:!0,hint:"Empty: the gateway makes a random one, which is best.",children:i2("input",{class:"mono",autocomplete:"of\
f",spellcheck:!1,value:custom,placeholder:"made by the gateway",onInput:event=>setCustom(event.currentTarget.value)})}),way==="policies"&&effective&&i2("div",{class:"\
field wide",children:i2(Note,{tone:"ok",icon:"ok",children:["In effect: ",rights.length," ",rights.length===1?"API":"APIs"," (",i2(Text,{children:rights.slice(0,
5).join(", ")}),"), ",limit(effective),"."]})})]})})}function limit(one){let parts2=[one.rate&&one.rate>0?`${count(one.rate)} per ${one.per} s`:"no rate limit"];
return one.quota_max&&one.quota_max>0&&parts2.push(`quota ${count(one.quota_max)}${one.quota_renewal_rate?` per ${span(one.quota_renewal_rate)}`:""}`),parts2.join(
", ")}function Made({made,api,close}){let header=api?.auth_header||"Authorization",curl=`curl -i -H ${shell(`${header}: ${made.key}`)} ${shell(`${location.protocol}\
//${location.host}${api?.listen_path??"/"}`)}`;return i2(Dialog,{title:"The key is valid",close,footer:i2(Button,{kind:"primary",onClick:close,children:"Done"}),
children:i2("div",{class:"secret-once",children:[i2(Note,{tone:"warn",icon:"alert",children:made.key_hash?"This is the only time it is shown. The gateway keeps \
only its hash.":"Copy it now; it is a secret and not shown in lists."}),i2("div",{class:"line",children:[i2("code",{class:"big-code","data-test":"secret",children:made.
key}),i2(Button,{icon:"copy",onClick:()=>{copy(made.key,"Key copied")},children:"Copy"})]}),made.key_hash&&i2("small",{children:["Its hash, by which lists and r\
ecords name it: ",i2("code",{children:made.key_hash})]}),i2("div",{class:"field",children:[i2("span",{children:"Use it"}),i2("div",{class:"line",children:[i2("c\
ode",{children:curl}),i2(Copy,{text:curl,label:"Copy the command"})]})]})]})})}var RECENT_S=30,FAILING=.01,ROWS=8;function Overview(){return session.value?.scope?i2(ScopedOverview,{}):i2(WholeOverview,{})}function WholeOverview(){tick.value;
let now2=now.value,{kind,words:words2}=state.value,total=totals.value;if(kind==="off")return i2($,{children:[i2("h1",{class:"page",children:"Overview"}),i2(Note,
{tone:"warn",icon:"alert",children:i2(Text,{children:words2})})]});if(kind==="lost"&&!total.times.length)return i2($,{children:[i2("h1",{class:"page",children:"\
Overview"}),i2(ErrorBox,{failure:words2,retry:()=>{start()}})]});let figure=column=>latest(total,column,RECENT_S),requests=figure("requests"),failed=figure("ser\
ver_errors"),refused2=figure("refused"),share=requests?(failed??0)/requests:requests===0?0:null,idle=requests===0?lastSeen(total):null,plots=totals.value;return i2(
$,{children:[i2("h1",{class:"sr",children:"Overview"}),i2(Verdict,{}),kind==="refused"&&i2(Note,{tone:"warn",icon:"alert",children:["Figures are not updated: ",
i2(Text,{children:words2})," This page tries again every 10 s."]}),session.value?.by_secret&&session.value.users===0&&i2(FirstUsers,{}),i2("div",{class:"figures",
children:[i2(Figure,{name:"Requests",to:link(["apis"],{sort:"-requests"}),unit:"/s",note:requests==null?"":requests===0?idle?i2($,{children:["last ",i2(Ago,{at:idle})]}):
"none within the past hour":i2($,{children:[count(now2?.totals.in_flight??null)," in flight"]}),children:rate(requests)}),i2(Figure,{name:"Failed",to:link(["liv\
e"],{status:"5xx"}),tone:share!=null&&share>=FAILING?"bad":void 0,note:i2($,{children:[rate(failed),"/s got 5xx or no answer"]}),children:percent(share)}),i2(Figure,
{name:"Refused",to:link(["live"],{status:"4xx"}),unit:"/s",tone:refused2&&requests&&refused2/requests>.2?"warn":void 0,note:i2($,{children:[percent(requests?(refused2??
0)/requests:requests===0?0:null)," of requests"]}),children:rate(refused2)}),i2(Figure,{name:"Upstream p99",to:link(["apis"],{sort:"-p99_ms"}),note:"until its r\
esponse ended",children:percentile(highest(total,"upstream_p99_us",RECENT_S),ends.value.upstream)}),i2(Figure,{name:"Gateway p99",to:link(["system"]),note:"of i\
ts own work",children:percentile(highest(total,"gateway_p99_us",RECENT_S),ends.value.gateway)})]}),i2("div",{class:"two",children:[i2(TrafficPlot,{series:plots}),
i2(LatencyPlot,{series:plots})]}),i2("div",{class:"two wide-left",children:[i2(BusyApis,{}),i2(NeedsAttention,{})]}),i2(Refusals,{}),i2(Costs,{})]})}function ScopedOverview(){
let apis2=useLoaded(()=>get("list/apis?limit=20&sort=name",{byItself:!0}),[]),changes=useLoaded(()=>get("list/changes?limit=10",{byItself:!0}),[]);return i2($,{
children:[i2("h1",{class:"page",children:"Overview"}),i2(Note,{children:["You reach ",i2(Text,{children:scopeText(session.value?.scope)}),", with the policies, \
keys and clients that belong to it."]}),i2("div",{class:"two wide-left",children:[i2(Panel,{title:"Your APIs",actions:i2(LinkButton,{kind:"quiet",href:"#/apis",
children:"All"}),children:apis2.failure?i2(ErrorBox,{failure:apis2.failure,retry:apis2.again}):apis2.value&&(apis2.value.rows.length===0?i2(Empty,{icon:"api",title:"\
There is no such API yet."}):i2("table",{class:"plain",children:[i2("thead",{children:i2("tr",{children:[i2("th",{scope:"col",children:"API"}),i2("th",{scope:"c\
ol",children:"Path"}),i2("th",{scope:"col",children:i2("span",{class:"sr",children:"Its requests"})})]})}),i2("tbody",{children:apis2.value.rows.map(one=>i2("tr",
{children:[i2("th",{scope:"row",children:i2("a",{href:link(["apis",one.id]),children:i2(Text,{children:one.name||one.id})})}),i2("td",{children:i2("code",{children:visible(
one.listen_path)})}),i2("td",{class:"number",children:i2("a",{href:link(["live"],{api:one.id}),children:"Live tail"})})]},one.id))})]}))}),i2(Panel,{title:"Last\
 changes",children:changes.failure?i2(ErrorBox,{failure:changes.failure,retry:changes.again}):changes.value&&(changes.value.rows.length===0?i2(Empty,{icon:"ok",
title:"Nothing was changed within 90 days."}):i2("ul",{class:"attention",children:changes.value.rows.map((one,index)=>i2("li",{children:[i2("span",{children:i2(
Text,{children:`${one.user||"nobody"}: ${String(one.action).replaceAll("_"," ")} ${one.kind} ${one.target}`})}),i2("small",{children:i2(Ago,{at:one.time})})]},index))}))})]})]})}
function Figure({name,unit,note,tone,to:to3,children}){return i2("a",{class:`figure panel ${tone??""}`,href:to3,children:[i2("span",{children:name}),i2("strong",
{children:[children,unit&&i2("small",{children:unit})]}),i2("em",{children:note})]})}function Verdict(){let now2=now.value,{kind,since}=state.value;if(kind==="l\
ost")return i2(Line,{tone:"bad",head:`No answer from the gateway since ${clock(since/1e3,!0)}.`,rest:"What is shown is older. Traffic may still be served; this \
page tries again every 2 s."});if(!now2)return i2(Line,{tone:"muted",head:"Waiting for the first sample."});let trouble=now2.attention.filter(one=>one.level==="\
bad"),worst=[...apis.entries()].map(([id,series])=>({id,series,requests:latest(series,"requests",RECENT_S)??0,failed:latest(series,"server_errors",RECENT_S)??0,
upstream:latest(series,"upstream_errors",RECENT_S)??0})).filter(api=>api.requests>0&&api.failed/api.requests>=FAILING).sort((a3,b3)=>b3.failed-a3.failed),first=worst[0];
if(first){let name=visible(first.series.name||first.id),from=failingSince(first.series),own2=trouble.find(one=>["store","reload","shared_definitions"].includes(
one.kind)),more=worst.length>1?` and of ${worst.length-1} more`:"";return i2(Line,{tone:"bad",head:i2($,{children:["Upstream of ",i2("a",{href:link(["apis",first.
id]),children:name}),more," fails",from?` since ${clock(from)}`:"","."]}),rest:`${percent(first.failed/first.requests)} of its requests. ${own2?own2.kind==="rel\
oad"?"The configuration has problems too.":sentence(own2.text):"The gateway itself is healthy."}`})}if(trouble[0])return i2(Line,{tone:"bad",head:i2(Text,{children:sentence(
trouble[0].text)}),rest:trouble.length>1?`${trouble.length-1} more below.`:""});if(now2.missing.length)return i2(Line,{tone:"warn",head:`${now2.missing.length} \
of ${now2.missing.length+now2.nodes.length} gateways do not answer.`,rest:now2.missing.map(visible).join(", ")});let requests=latest(totals.value,"requests",RECENT_S)??
0,refused2=latest(totals.value,"refused",RECENT_S)??0;if(requests>1&&refused2/requests>.2)return i2(Line,{tone:"warn",head:`${percent(refused2/requests)} of the\
 requests are refused.`,rest:"Gateway and upstreams are healthy; the reasons are below."});if(now2.attention[0])return i2(Line,{tone:"warn",head:i2(Text,{children:sentence(
now2.attention[0].text)}),rest:"Traffic is served."});if(requests===0){let last3=lastSeen(totals.value);return i2(Line,{tone:"ok",head:"Healthy, without traffic\
.",rest:last3?`The last request came at ${clock(last3,!0)}.`:"No request came within the past hour."})}return i2(Line,{tone:"ok",head:"Healthy.",rest:"Gateway a\
nd upstreams answer."})}var sentence=text=>`${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text)?"":"."}`;function failingSince(series){let from=null,
quiet=0;for(let at=series.times.length-1;at>=0&&quiet<5;at-=1){let requests=series.columns.requests[at]??0,failed=series.columns.server_errors[at]??0;requests>0&&
failed/requests>=FAILING?(from=series.times[at],quiet=0):requests>0&&(quiet+=1)}return from}function Line({tone,head,rest}){let change=[...marks.value].reverse().
find(mark=>mark.kind.startsWith("config"));return i2("div",{class:`verdict ${tone}`,role:"status",children:[i2(Icon,{name:tone==="ok"?"ok":tone==="muted"?"clock":
"alert"}),i2("p",{children:[i2("strong",{children:head})," ",rest]}),change&&i2("a",{class:"change",href:link(["system","changes"]),children:["Configuration of ",
moment(change.unix_s)]})]})}var SPAN_S_MIN=600;function hour(series){let last3=series.times.at(-1)??Date.now()/1e3,requests=totals.value.columns.requests,first=totals.
value.times[requests.findIndex(value=>value!=null)]??last3;return[Math.max(last3-SPAN_S,Math.min(first,last3-SPAN_S_MIN)),last3]}function TrafficPlot({series}){
let c3=series.columns,lines=[{name:"all",values:c3.requests,color:"accent",fill:!0},{name:"failed",values:c3.server_errors,color:"bad"},{name:"refused",values:c3.
refused,color:"warn"}];return i2(Plot,{title:"Requests by result",unit:"/s",times:series.times,span:hour(series),lines:narrow.value?lines.slice(0,1):lines,show:rate,
marks:marks.value})}function LatencyPlot({series,side="upstream"}){let[which,set]=w(side),c3=series.columns,lines=[{name:"p50",values:c3[`${which}_p50_us`],color:"\
accent"},{name:"p90",values:c3[`${which}_p90_us`],color:"violet"},{name:"p99",values:c3[`${which}_p99_us`],color:"warn"}];return i2(Plot,{title:"Latency",unit:"",
extra:i2("div",{class:"segments small",role:"group","aria-label":"Whose time",children:["upstream","gateway"].map(one=>i2("button",{type:"button","aria-pressed":which===
one,onClick:()=>set(one),children:one},one))}),log:!0,floor:which==="gateway"?10:100,times:series.times,span:hour(series),lines:narrow.value?lines.slice(2):lines,
show:value=>percentile(value,ends.value[which]),marks:marks.value},which)}function BusyApis(){tick.value;let rows=[...apis.entries()].map(([id,series])=>({id,series,
requests:latest(series,"requests",RECENT_S),failed:latest(series,"server_errors",RECENT_S),refused:latest(series,"refused",RECENT_S),p99:highest(series,"upstrea\
m_p99_us",RECENT_S)})).filter(row=>lastSeen(row.series)!=null).sort((a3,b3)=>(b3.failed??0)-(a3.failed??0)||(b3.requests??0)-(a3.requests??0)).slice(0,ROWS),total=now.
value?.apis_total;return i2(Panel,{title:"APIs by errors, then rate",actions:i2(LinkButton,{kind:"quiet",href:"#/apis",children:total!=null?`All ${count(total)}`:
"All"}),children:rows.length===0?i2(FirstRequest,{}):i2("table",{class:"plain",children:[i2("thead",{children:i2("tr",{children:[i2("th",{scope:"col",children:"\
API"}),!narrow.value&&i2("th",{scope:"col",children:"Past minutes"}),i2("th",{scope:"col",class:"number",children:"/s"}),i2("th",{scope:"col",class:"number",children:"\
failed"}),i2("th",{scope:"col",class:"number",children:"refused/s"}),i2("th",{scope:"col",class:"number",children:"p99"})]})}),i2("tbody",{children:rows.map(({id,
series,requests,failed,refused:refused2,p99})=>{let share=requests?(failed??0)/requests:requests===0?0:null;return i2("tr",{children:[i2("th",{scope:"row",children:i2(
"a",{href:link(["apis",id]),children:i2(Text,{children:series.name||id})})}),!narrow.value&&i2("td",{children:i2(Spark,{values:series.columns.requests,tone:share&&
share>=FAILING?"bad":"accent"})}),i2("td",{class:"number",children:rate(requests)}),i2("td",{class:`number ${share&&share>=FAILING?"bad":""}`,children:percent(share)}),
i2("td",{class:"number",children:rate(refused2)}),i2("td",{class:"number",children:percentile(p99,ends.value.upstream)})]},id)})})]})})}function FirstRequest(){
let[api,set]=w(null);return S2(()=>{get("list/apis?limit=1").then(page=>set(page.rows[0]??!1),()=>set(!1))},[]),api===!1?i2(Empty,{icon:"api",title:"There is no\
 API yet.",children:i2(LinkButton,{kind:"primary",icon:"plus",href:link(["apis"],{new:"1"}),children:"Make the first"})}):api?i2(Empty,{icon:"clock",title:"No r\
equest within the past hour.",children:["Send one, and it appears here: ",i2("code",{children:["curl -i ",location.origin,api.listen_path]})]}):i2(Empty,{icon:"\
clock",title:"No request within the past hour."})}function NeedsAttention(){let now2=now.value,differing=(useLoaded(()=>gateways.value>1?get("nodes",{byItself:!0}):
Promise.resolve(null),[gateways.value,Math.floor(tick.value/5)]).value?.nodes??[]).filter(one=>one.differs.length).map(one=>({kind:"node",level:"warn",text:`${one.
node} runs other ${one.differs.join(", ").replaceAll("_"," ")}`})),rows=[...now2?.attention??[],...differing],where=one=>one.api_id?link(["apis",one.api_id]):one.
kind==="certificate"?link(["certificates"]):link(["system"]);return i2(Panel,{title:"Needs attention",children:[rows.length===0?i2(Empty,{icon:"ok",title:now2?"\
Nothing needs attention.":"Waiting for the first sample."}):i2("ul",{class:"attention",children:rows.slice(0,12).map((one,index)=>i2("li",{class:one.level,children:[
i2(Icon,{name:"alert"}),i2("a",{href:where(one),children:[i2("b",{class:"sr",children:one.level==="bad"?"Error: ":"Warning: "}),i2(Text,{children:one.text})]}),
one.unix_s&&i2("small",{children:i2(Ago,{at:one.unix_s})})]},index))}),rows.length>12&&i2("p",{class:"list-end",children:[rows.length-12," more in ",i2("a",{href:"\
#/system",children:"System"}),"."]})]})}var UNROUTED={not_found:"unknown path",bad_path:"malformed path",too_many:"too many from one address",redirected:"redire\
cted"};function Refusals(){let now2=now.value;if(!now2)return null;let rows=Object.entries(refusals.value).sort((a3,b3)=>b3[1]-a3[1]),lost2=Object.entries(unrouted.
value??{}).filter(([what,rate2])=>rate2>0&&what in UNROUTED),busy=now2.core_busy.length?Math.max(...now2.core_busy):null;return i2("p",{class:"strip",children:[
i2("span",{children:[i2("b",{children:"Refusals"})," ",rows.length?rows.slice(0,6).map(([cause,rate2])=>i2("a",{href:link(["live"],{cause}),children:[cause.replaceAll(
"_"," ")," ",rate(rate2),"/s"]},cause)):"none in the past 30 s"]}),lost2.length>0&&i2("span",{children:[i2("b",{children:"Without an API"})," ",lost2.map(([what,
rate2])=>i2("span",{children:[UNROUTED[what]," ",rate(rate2),"/s"]},what))]}),i2("span",{children:[i2("b",{children:"Connections"})," ",count(now2.connections.client),
" of clients, ",count(now2.connections.upstream)," to upstreams"]}),busy!=null&&i2("span",{children:[i2("b",{children:"Busiest core"})," ",percent(busy)]})]})}function Costs(){
let at=useLoaded(()=>get("live?apis=0",{byItself:!0}),[0,Math.floor(tick.value/5)]).value;if(!at)return null;let dearest=[...at.middlewares??[]].filter(one=>one.
mean_ns>0).sort((a3,b3)=>b3.mean_ns-a3.mean_ns).slice(0,6),lost2=(at.sinks??[]).reduce((sum,one)=>sum+one.dropped+one.failed,0);return i2("p",{class:"strip",children:[
i2("span",{title:`Means of 1 in 1,024 requests, on ${visible(at.node)}`,children:[i2("b",{children:"Cost"})," ",dearest.length?dearest.map(one=>i2("span",{children:[
one.middleware," ",duration(one.mean_ns/1e3)]},one.middleware)):"no request was timed yet"]}),(at.stores??[]).map(one=>i2("a",{href:link(["system"]),class:one.up?
"":"bad",children:[i2("b",{children:"Store"})," ",one.store," ",one.up?percentile(one.p50_us,1e7):"does not answer"]},one.store)),i2("a",{href:link(["system"]),
class:lost2?"bad":"",children:[i2("b",{children:"Records"})," ",at.sinks?.length?`${count(lost2)} lost`:"not kept"]})]})}function FirstUsers(){let[gone,set]=w(localStorage.
getItem("no-users")==="yes");return gone?null:i2(Note,{actions:i2($,{children:[i2(LinkButton,{href:link(["system","users"],{new:"1"}),children:"Add a user"}),i2(
Button,{kind:"quiet",icon:"close","aria-label":"Not now",onClick:()=>{localStorage.setItem("no-users","yes"),set(!0)}})]}),children:"You are signed in with the \
control secret. Named users have roles, and changes then say who made them."})}var OUTCOMES={ok:["ok","answered"],cached:["ok","from the cache"],guarded:["warn","refused by a guard"],refused:["warn","refused by the provider"],rate_limited:[
"warn","too many requests"],failed:["bad","failed"],broken:["bad","broke off"],client_left:["muted","client left"],cut:["warn","cut by a budget"],no_budget:["wa\
rn","no budget left"],unsupported:["warn","not supported"],unknown_model:["warn","unknown model"],skipped:["muted","passed over"]},outcome=name=>OUTCOMES[name]??
["muted",name.replaceAll("_"," ")];function usd(value){return value==null?UNKNOWN:value===0?"$0":value<1e-4?"<$0.0001":value<1?`$${Number(value.toPrecision(2))}`:
`$${value.toLocaleString("en-US",{minimumFractionDigits:2,maximumFractionDigits:2})}`}function saveFile(name,text,type="text/csv"){let link2=document.createElement("a");link2.href=URL.createObjectURL(new Blob([text],{type})),link2.download=name,link2.
click(),setTimeout(()=>URL.revokeObjectURL(link2.href),1e4)}var FIELDS=["api","key","path","status","address","agent","method"],WINDOWS=[["60","1 min"],["300","5 min"],["600","10 min"]],EVERY_MS=3e3,ROWS2=50;function Top({
api,by}){let window_=route.value.query.get("window")??"60",top=useLoaded(()=>get(`top${query({by,window:window_,k:ROWS2,nodes:"all",api})}`,{byItself:!0}),[`${by}\
 ${window_} ${api}`]);S2(()=>{let timer=setInterval(()=>{document.hidden||top.again()},EVERY_MS);return()=>clearInterval(timer)},[]);let at=top.value,rows=at?.rows??
[],seconds=at?Math.max(1,at.to_unix_s-at.from_unix_s):1,to3=row=>({api:link(["apis",row.value]),key:row.value&&link(["keys",row.value],{alias:row.name}),status:link(
["live"],{status:row.value}),address:link(["live"],{address:row.value}),path:link(["live"],{q:row.value,api}),agent:link(["live"],{q:row.value,api})})[by];return i2(
$,{children:[top.failure?i2(ErrorBox,{failure:top.failure,retry:top.again,since:top.at??void 0}):null,at?.missing.length>0&&i2(Note,{tone:"warn",icon:"alert",children:[
"Without ",at.missing.map(visible).join(", "),": ",at.missing.length===1?"it does":"they do"," not answer."]}),i2(Panel,{title:`Busiest ${by==="api"?"APIs":`by ${by}`}`,
note:at?`${count(at.seen)} requests of the past ${span(seconds)}${at.error_max?`; a value that is not listed had at most ${count(at.error_max)}`:""}`:"loading",
actions:i2("div",{class:"segments small",role:"group","aria-label":"Window",children:WINDOWS.map(([id,name])=>i2("button",{type:"button","aria-pressed":window_===
id,onClick:()=>refine({window:id}),children:name},id))}),children:rows.length===0?i2("div",{class:"empty small",children:at?"Counting begins when somebody looks\
. Requests appear here as they come.":"Loading"}):i2("table",{class:"plain",children:[i2("thead",{children:i2("tr",{children:[i2("th",{scope:"col",children:by===
"api"?"API":by.charAt(0).toUpperCase()+by.slice(1)}),i2("th",{scope:"col",class:"number",children:"/s"}),!narrow.value&&i2("th",{scope:"col",children:"Share"}),
i2("th",{scope:"col",class:"number",children:"Refused"}),i2("th",{scope:"col",class:"number",children:"Failed"}),!narrow.value&&i2($,{children:[i2("th",{scope:"\
col",class:"number",children:"Mean"}),i2("th",{scope:"col",class:"number",children:"Sent"})]})]})}),i2("tbody",{children:rows.map(row=>{let text=i2(Text,{children:row.
name||row.value||"none"}),target=to3(row);return i2("tr",{children:[i2("th",{scope:"row",children:target?i2("a",{href:target,children:text}):text}),i2("td",{class:"\
number",title:row.error?`${row.requests-row.error} to ${row.requests} requests`:`${row.requests} requests`,children:[row.error?"~":"",rate(row.requests/seconds)]}),
!narrow.value&&i2("td",{children:[i2("span",{class:"share","aria-hidden":"true",children:i2("span",{style:{width:`${100*row.requests/Math.max(1,at.seen)}%`}})}),
percent(row.requests/Math.max(1,at.seen))]}),i2("td",{class:"number",children:count(row.refused)}),i2("td",{class:`number ${row.server_errors?"bad":""}`,children:count(
row.server_errors)}),!narrow.value&&i2($,{children:[i2("td",{class:"number",children:duration(row.mean_us)}),i2("td",{class:"number",children:bytes(row.response_bytes)})]})]},
row.value)})})]})})]})}var SPANS2=[["1h","1 h",3600],["6h","6 h",6*3600],["24h","24 h",86400],["7d","7 d",7*86400],["30d","30 d",30*86400]],NOW="now",SPLITS=["api","key","path","statu\
s","method","version","node"],FILTERS=["api_id","key","path","status","method","version"],COLORS=["accent","warn","violet","teal","pink","olive","ok","muted"],ROWS3=50,
named=split=>split==="api"?"API":split==="node"?"gateway":split,capital=text=>text.charAt(0).toUpperCase()+text.slice(1);function step(seconds){for(let one of[60,
300,900,3600,4*3600,86400])if(seconds/one<=170)return one;return 86400}function Usage(){return i2(UsageOf,{})}function UsageOf({api}){let q4=route.value.query,last3=q4.
get("last")??"24h",split=q4.get("split")??(api?"key":"api"),filters=Object.fromEntries(FILTERS.flatMap(name=>q4.get(name)?[[name,q4.get(name)]]:[]));api&&(filters.
api_id=api);let zoomed=q4.get("from")&&q4.get("to"),seconds=zoomed?Number(q4.get("to"))-Number(q4.get("from")):SPANS2.find(([id])=>id===last3)?.[2]??86400,range=zoomed?
{from:q4.get("from"),to:q4.get("to")}:{last:last3},width=step(seconds),asked=JSON.stringify([range,split,filters]),isNow=last3===NOW&&!zoomed,timed=useLoaded(()=>isNow?
Promise.resolve(null):get(`usage${query({by:"time",split,step:`${width/60}m`,nodes:"all",...range,...filters})}`),[asked]),table=useLoaded(()=>isNow?Promise.resolve(
null):get(`usage${query({by:split,top:ROWS3,nodes:"all",...range,...filters})}`),[asked]),[sort,setSort]=w("hits"),failure=timed.failure??table.failure,head=i2(
"div",{class:"toolbar",children:[i2("div",{class:"segments",role:"group","aria-label":"Span",children:[i2("button",{type:"button","aria-pressed":isNow,onClick:()=>refine(
{last:NOW,from:void 0,to:void 0}),children:"Now"}),SPANS2.map(([id,name])=>i2("button",{type:"button","aria-pressed":!zoomed&&last3===id,onClick:()=>refine({last:id,
from:void 0,to:void 0}),children:name},id))]}),i2("label",{class:"row",children:["by ",i2("select",{"aria-label":"Split by",value:split,onChange:event=>refine({
split:event.currentTarget.value}),children:(isNow?FIELDS:SPLITS).filter(one=>one!=="node"||gateways.value>1||split==="node").map(one=>i2("option",{value:one,children:named(
one)},one))})]}),FILTERS.filter(name=>filters[name]&&!(api&&name==="api_id")).map(name=>i2("span",{class:"chip",children:[i2("bdi",{children:[name.replace("_id",
""),": ",visible(filters[name])]}),i2("button",{type:"button","aria-label":`Remove the filter ${name}`,onClick:()=>refine({[name]:void 0}),children:i2(Icon,{name:"\
close"})})]},name)),zoomed&&i2("span",{class:"chip",children:[i2("bdi",{children:[moment(Number(q4.get("from")))," to ",moment(Number(q4.get("to")))]}),i2("butt\
on",{type:"button","aria-label":"Zoom out",onClick:()=>refine({from:void 0,to:void 0}),children:i2(Icon,{name:"close"})})]}),!isNow&&i2(Button,{icon:"download",
class:"push",disabled:!table.value,onClick:()=>download(split,table.value),children:"CSV"})]}),title=api?null:i2("h1",{class:"page",children:"Usage"}),by=FIELDS.
includes(split)?split:"api";if(isNow)return i2($,{children:[title,head,i2(Top,{api,by})]});if(failure instanceof Failure&&failure.status===404)return i2($,{children:[
title,head,i2(Note,{tone:"warn",icon:"alert",children:["Usage is not recorded, so there is only what is counted now. ",i2(Text,{children:failure.message})]}),i2(
Top,{api,by})]});let{lines,times}=timed.value?plotted(timed.value,width):{lines:[],times:[]},rows=[...table.value?.rows??[]].sort((a3,b3)=>sort==="value"?String(
a3.value).localeCompare(String(b3.value)):b3[sort]-a3[sort]),all=rows.reduce((sum,row)=>sum+row.hits,0),column=(id,name)=>i2("th",{scope:"col",class:"number","a\
ria-sort":sort===id?"descending":"none",children:i2("button",{type:"button",class:"as-link",onClick:()=>setSort(id),children:name})}),filter=value=>refine({[split===
"api"?"api_id":split]:value,split:split==="api"?"key":split==="key"?"path":"status"}),missing=table.value?.missing??[];return i2($,{children:[title,head,failure?
i2(ErrorBox,{failure,retry:()=>{timed.again(),table.again()},since:timed.at??void 0}):null,(timed.value?.partial||table.value?.partial)&&i2(Note,{tone:"warn",icon:"\
alert",children:"Only part of it was read within 2 s: the figures are too small. Choose a shorter span or filter."}),missing.length>0&&i2(Note,{tone:"warn",icon:"\
alert",children:["Without ",missing.map(visible).join(", "),": ",missing.length===1?"it does not answer, or records":"they do not answer, or record"," no usage."]}),
i2("div",{class:"stack",children:[i2(Plot,{title:"Requests",unit:"/s",times,lines:narrow.value?lines.slice(0,1):lines,show:rate,height:220,zoom:(from,to3)=>{to3-
from>=120&&refine({from:String(Math.floor(from/60)*60),to:String(Math.ceil(to3/60)*60)})}},asked),i2(Panel,{title:`By ${named(split)}`,note:table.value?`${count(
all)} requests${rows.length>=ROWS3?`, the ${ROWS3} busiest`:""}`:"loading",children:rows.length===0?i2(Empty,{icon:"usage",title:table.value?"No request in this\
 span.":"Loading"}):i2("div",{class:"scroll-x",tabIndex:0,children:i2("table",{class:"plain",children:[i2("thead",{children:i2("tr",{children:[i2("th",{scope:"c\
ol",children:capital(named(split))}),column("hits","Requests"),!narrow.value&&i2("th",{scope:"col",children:"Share"}),column("errors","Failed"),column("p50_ms",
"p50"),column("p99_ms","p99"),!narrow.value&&column("response_bytes","Sent")]})}),i2("tbody",{children:rows.map(row=>i2("tr",{children:[i2("th",{scope:"row",children:[
split==="node"?i2(Text,{mono:!0,children:row.value}):i2("button",{type:"button",class:"as-link",title:`Only ${visible(row.value)}`,onClick:()=>filter(String(row.
value)),children:i2(Text,{children:row.alias||row.value||"none"})}),split==="key"&&row.value&&i2($,{children:[row.alias&&i2("small",{children:[" ",i2(Text,{mono:!0,
children:String(row.value).slice(0,12)})]})," ",i2("a",{href:link(["keys",String(row.value)],{alias:row.alias}),"aria-label":"Open the key",children:i2(Icon,{name:"\
right"})})]})]}),i2("td",{class:"number",children:count(row.hits)}),!narrow.value&&i2("td",{children:[i2("span",{class:"share","aria-hidden":"true",children:i2(
"span",{style:{width:`${100*row.hits/Math.max(1,all)}%`}})}),percent(row.hits/Math.max(1,all))]}),i2("td",{class:`number ${row.errors/Math.max(1,row.hits)>.05?"\
bad":""}`,children:percent(row.errors/Math.max(1,row.hits))}),i2("td",{class:"number",children:percentile(row.p50_ms*1e3,3e7)}),i2("td",{class:"number",children:percentile(
row.p99_ms*1e3,3e7)}),!narrow.value&&i2("td",{class:"number",children:bytes(row.response_bytes)})]},row.value))})]})})})]})]})}function plotted(found,width){let unit=found.
step_s??width,first=Math.ceil(found.from/unit)*unit,end=Math.min(found.to,Date.now()/1e3),times=[];for(let at=first;at<=end&&times.length<2e3;at+=unit)times.push(
at);let place=new Map(times.map((time,at)=>[time,at])),sums=new Map,names_=Object.create(null);for(let row of found.rows)sums.set(row.split??"all",(sums.get(row.
split??"all")??0)+row.hits),row.alias&&(names_[row.split]=row.alias);let names=[...sums].sort((a3,b3)=>+(a3[0]==="_other")-+(b3[0]==="_other")||b3[1]-a3[1]).slice(
0,8).map(([name])=>name),values=new Map(names.map(name=>[name,times.map(()=>0)]));for(let row of found.rows){let at=place.get(Math.floor(row.value/unit)*unit),line=values.
get(row.split??"all"),lasted=at===void 0?unit:Math.max(60,Math.min(unit,Date.now()/1e3-times[at]));at!==void 0&&line&&(line[at]=(line[at]??0)+row.hits/lasted)}return{
times,lines:names.map((name,at)=>({name:name==="_other"?"other":visible(names_[name]??name)||"none",values:values.get(name),color:COLORS[name==="_other"?7:at%7],
fill:names.length===1}))}}function download(split,{rows,missing}){let names=["hits","success","errors","mean_ms","upstream_mean_ms","p50_ms","p90_ms","p99_ms","\
max_ms","request_bytes","response_bytes"],keyed=split==="key"?["alias"]:[],lines=rows.map(row=>[String(row.value),...keyed.map(()=>row.alias??""),...names.map(name=>row[name])]),
text=[[split,...keyed,...names],...lines,...missing.map(node=>[`without ${node}`])].map(line=>line.map(cell).join(",")).join(`\r
`);saveFile(`usage-by-${split}.csv`,`${text}\r
`)}export{$,E,he,w,S2 as S,U,b,D3 as D,ended,Failure,ask,call,get,mayBeKey,listKeys,query,segment,session,door,silent,may,isScoped,reread,scopeText,load,signIn,signOut,
APIS_MAX,now,apis,tick,state,ends,tailFilters,onTail,gateways,start,stop,adopt,latest,highest,lastSeen,UNKNOWN,utc,count,rate,percent,duration,percentile,bytes,
span,offset,clock,date,moment,full,ago,visible,i2 as i,Icon,Logo,say,Toasts,Badge,Button,LinkButton,Panel,Ago,Text,copy,Copy,Empty,ErrorBox,Note,Meter,Field,Facts,
Fact,route,guard,link,go,refine,Dialog,narrow,theme,dark,useList,Table,here,Filter,token,Plot,Spark,useLoaded,Keys,KeyTable,short2 as short,SPANS,limit,Overview,
hour,TrafficPlot,LatencyPlot,UNROUTED,outcome,usd,saveFile,capital,Usage,UsageOf};
